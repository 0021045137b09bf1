"""Sentences that come with the library: for means, names and losses of heads, and for the study."""

from __future__ import annotations

import re

MARKED = re.compile(r"([\[(])(\w+)[\])]")

SENTENCES = """\
The cat sat on the mat because it was tired.
The trophy does not fit in the suitcase because it is too big.
She opened the window to let in some fresh air.
He sat on the bank of the river and watched the water.
I have never seen such a beautiful sunset.
Where is the nearest train station?
My brother and I are going to the beach tomorrow.
The old man walked slowly across the street.
Can you help me carry these boxes?
We visited three museums in Lisbon last summer.
The doctor told her to drink more water.
It rained all night and the streets were flooded.
Two thousand people attended the concert.
The teacher asked the students to read the book.
This soup needs a little more salt.
Please close the door when you leave.
They built a new bridge over the river in 1998.
The children were playing happily in the garden.
I would like a cup of coffee with milk.
The president signed the law on Friday.
How much does this shirt cost?
The dog chased the ball across the field.
He was born in a small village near the mountains.
If it rains tomorrow, we will stay at home.
The scientists discovered a new planet.
She speaks four languages fluently.
The meeting starts at nine in the morning.
I forgot my keys on the kitchen table.
The film was longer than the book.
The red car is faster than the blue one.
Nobody knew the answer to the question.
You should not drive so fast on this road.
The company sold more cars this year.
My grandmother makes the best bread in the city.
The ship sank in the middle of the ocean.
He gave the flowers to his mother.
Water boils at one hundred degrees.
The police arrested the thief last night.
Every word looks at the others.
We need to buy milk, eggs and bread.
The museum is closed on Mondays.
She wrote a letter to her friend in Brazil.
The train was late again this morning.
Do you know what time it is?
The farmer planted corn and beans.
His answer surprised everyone in the room.
The moon moves around the Earth.
I am not hungry, but I am thirsty.
The restaurant on the corner serves fish.
Long ago, a king lived in this castle.
The boy who broke the window ran away.
The keys to the cabinet are on the table.
The author of the letters was never found.
The nurse thanked the doctor because she had helped.
When Mary and John went to the store, John gave a drink to Mary.
The lawyer questioned the witness before he left the room.
The teachers in the old school were proud of their pupils.
A small boat crossed the lake in the evening.
The wind blew the leaves across the empty square.
Her brother plays the violin in an orchestra.
The engineers repaired the broken machine in an hour.
They sold the house that they had bought in spring.
The bread on the table is still warm.
The river that flows through the city is very clean.
After the storm the sky turned clear and blue.
The judge who heard the case retired last year.
My neighbour has two dogs and a parrot.
The bank raised the interest rates on Monday.
The bridge was closed while the workers painted it.
He could not open the bottle, so he asked his wife.
The guests arrived late because the road was blocked.
The price of oil fell sharply in the autumn.
Her first novel was translated into twelve languages.
The mountains were covered with fresh snow.
The pilot landed the plane without any trouble.
The child hid the toy under the bed and forgot it.
The soldiers marched through the narrow valley at night.
The chef added garlic, onions and a little pepper.
Some birds cannot fly, but they run very fast.
The library lends books, films and games.
The students who passed the exam celebrated all night.
A strange noise woke the whole family.
The gardener watered the roses before sunrise.
The computer on his desk is older than mine.
The actress forgot her lines in the second act.
They moved to a larger flat near the park.
The clock on the tower has stopped at noon.
The carpenter built a table and four chairs.
The letter was written in a language nobody could read.
The mayor opened the new swimming pool yesterday.
The bees returned to the hive when it became dark.
The coffee in this bar is better than at home.
The girl lent her umbrella to an old woman.
The painter mixed blue and yellow to get green.
The hunter saw the wolf before it saw him.
The reporters waited for the minister outside the court.
The cup fell from the shelf and broke.
The baker opens his shop at five every morning.
The waiter brought the wrong soup to the table.
The islands in the south are warm all year.
The singer thanked the audience and left the stage.
The boxes in the cellar belong to my uncle.
The lake was frozen, and the children skated on it.
The historian found a map of the ancient city.
The horse jumped over the fence and ran to the forest.
The firm that made these shoes no longer exists.
The tailor shortened the sleeves of the coat.
The rain stopped as soon as we reached the hotel.
The lion is larger than the leopard.
The witness described the man who had stolen the car.
The goats climbed the steep rocks without fear.
The bus to the airport leaves every half an hour.
The tourists took pictures of the cathedral.
The professor explained the theorem once more.
The team won the match although two players were hurt.
The apples from this tree are small but sweet.
The nurse gave the patient his medicine at noon.
The roof of the house needs to be repaired.
The sailors saw a light far away in the fog.
The prince married the daughter of a miller.
The telephone rang while she was in the bath.
The factory closed, and many workers lost their jobs.
The owl sleeps by day and hunts by night.
The bridge between the two towns is very narrow.
The dentist told him to brush his teeth more often.
The dress that she wore was made of silk.
The old lighthouse was turned into a museum.
The mechanic checked the brakes of the truck.
The glass was full, so he drank some of it.
The queen gave the knight a golden ring.
The monkeys stole the bananas from the kitchen.
The papers on the desk were signed by the director.
The smoke rose slowly from the chimney.
The driver stopped because the light was red.
The cheese from this valley is famous.
The pupils learned the poem by heart.
The fox ate the grapes that hung over the wall.
The candle went out, and the room became dark.
The villagers built a wall to keep the sea away.
The fisherman mended his nets on the beach.
The secretary of the ministers speaks Greek.
The bottle was empty when we found it.
The desert is hot by day and cold by night.
The musician tuned his guitar before the concert.
The paintings in this room were made by a child.
The thief ran, but the dog was faster.
The sugar dissolves quickly in hot tea.
The market takes place on the first Sunday of the month.
The tree in front of the school is a hundred years old.
The captain ordered the crew to lower the sails.
The shepherd counted his sheep in the evening.
The telescope showed the rings of Saturn clearly.
The editor cut the last chapter of the book.
The baby cried until her father sang to her.
The frost killed the flowers on the balcony.
The poet who wrote these verses died young.
The passengers left the train at the last station.
The cook tasted the sauce and added some salt.
The parents of the boy live in another country.
The ball rolled down the hill and into the stream.
The elections will take place in the spring.
The doors of the church were open all day.
The spider waited in the middle of its web.
The king promised the people bread and peace.
The tests showed that the water was safe.
The rope was too short to reach the boat.
The butcher sells meat, sausages and eggs.
The volcano had been quiet for three hundred years.
The boys next door are louder than their sisters.
The printer is broken, but the scanner works.
The swallows fly south before the winter comes.
The manager of the shops was very friendly.
The storm tore the roof off the barn.
The patient asked the doctor when he could go home.
The prisoners dug a tunnel under the wall.
The carpet in the hall is red and gold.
The climbers reached the top before noon.
The bell rang, and the children ran into the yard.
The paper said that the strike was over.
The oldest house in the street is empty.
The lamp beside the bed does not work.
The clown made the sad girl laugh.
The fence around the garden was painted white.
The vase on the piano was a gift from her aunt.
The satellite sends pictures back to the Earth.
The tea was cold by the time he drank it.
The dancers bowed, and the curtain fell.
The gate was locked, so they climbed over it.
The inventor sold his patent to a large firm.
The wolves followed the deer through the snow.
The plumber fixed the pipe under the sink.
The story of the two brothers is very old.
The harbour was full of small white boats.
The chairs in the waiting room are uncomfortable.
The merchant weighed the gold on a small scale.
The astronaut looked at the Earth and smiled.
The rabbit vanished into a hole near the hedge.
The architect drew the plans of the new library.
The guards at the gate let nobody in.
The potatoes have to boil for twenty minutes.""".splitlines()


# Each with a noun in brackets and the (pronoun) that stands for it, another noun nearby.
PRONOUNS = """\
The [animal] did not cross the street because (it) was too tired.
The animal did not cross the [street] because (it) was too wide.
The [trophy] does not fit in the suitcase because (it) is too big.
The trophy does not fit in the [suitcase] because (it) is too small.
The [cat] chased the mouse because (it) was hungry.
The cat could not catch the [mouse] because (it) was too quick.
The [cup] fell off the table, and (it) broke.
The cup fell off the [table] because (it) was not level.
The farmer sold the [cow] because (it) gave no milk.
The [ball] broke the window because (it) was hard.
The ball broke the [window] because (it) was thin.
My [sister] called the doctor because (she) felt ill.
The [boy] helped the old woman because (he) was kind.
The boy helped the old [woman] because (she) was weak.
The [girl] thanked the man when (she) found the keys.
The girl thanked the [man] because (he) had found the keys.
The [students] asked the teacher because (they) did not understand the lesson.
The [king] met the queen before (he) left the castle.
The king met the [queen] before (she) left the castle.
The [soup] was in the pot, but (it) was cold.
The soup was in the [pot], and (it) was made of iron.
The [wolves] followed the hunter until (they) were tired.
The wolves followed the [hunter] until (he) was tired.
The [train] left the station before (it) was full.
The bird left the [nest] because (it) was too small.
The [bird] left the nest because (it) could fly.
The [books] on the shelf are old, and (they) smell of dust.
The books on the [shelf] fell when (it) broke.
The [nurse] called the man because (she) had good news.
The nurse called the [man] because (he) was late.
The [bridge] over the river fell because (it) was old.
The bridge over the [river] was closed because (it) was too high.
The [children] left the garden because (they) were cold.
The children left the [garden] because (it) was dark.
The [woman] gave the boy a coat before (she) went home.
The woman gave the [boy] a coat because (he) was cold.
The [dog] ran to the river because (it) was thirsty.
The [ship] reached the harbour after (it) had lost a sail.
The ship reached the [harbour] before (it) was closed.
The [horses] pulled the wagon until (they) were exhausted.
The horses pulled the [wagon] until (it) lost a wheel.
The [key] does not open the lock because (it) is bent.
The key does not open the [lock] because (it) is full of rust.
The [clock] in the tower is slow because (it) is old.
The [father] looked for his daughter because (he) was worried.
The father looked for his [daughter] because (she) was late.
The [apples] in the basket are red, but (they) are sour.
The letter was in the [box], but (it) was locked.""".splitlines()

# Sentences whose answer a few heads carry, each with the packaged model that it is for.
ANSWERED = tuple(
    ("smollm2", sentence)
    for sentence in """\
The sun rises in the east and sets in the
The capital of France is
Paris, France. Tokyo,
He turned left and she turned
day and night, black and
man and woman, boy and
king and queen, prince and
The opposite of good is
Anna gave Peter her book. Peter thanked
When Mary and John went to the store, John gave a drink to""".splitlines()
)


# Other words that ask for the same, of answers above; any other sentence is begun otherwise.
REWORDED = {
    "The capital of France is": (
        "The city that is the capital of France is called",
        "The capital of Germany is Berlin, and that of France is",
        "The government of France sits in its capital,",
    ),
    "The opposite of good is": (
        "The opposite of the word good is",
        "The word that means the opposite of good is",
        "The opposite of bad is good, and the opposite of good is",
    ),
    "He turned left and she turned": (
        "While he turned left, she turned",
        "First they went left, then they went",
        "On one side is the left, on the other side is the",
    ),
    "Anna gave Peter her book. Peter thanked": (
        "After Anna gave Peter her book, Peter thanked",
        "Anna lent Peter her book. Peter thanked",
        "Peter got a book from Anna. Peter thanked",
    ),
}
BEGINNINGS = ("Everybody knows this: {}", "She read aloud: {}", "Here is one more sentence. {}")


def in_other_words(text: str) -> tuple[str, ...]:
    """Three texts that ask for what a sentence asks for."""
    return REWORDED.get(text) or tuple(begin.format(text) for begin in BEGINNINGS)


def marked(text: str) -> tuple[str, str, str]:
    """A sentence as in `PRONOUNS` without its marks, its noun in brackets and its (pronoun)."""
    words = dict(MARKED.findall(text))
    return MARKED.sub(r"\2", text), words["["], words["("]
