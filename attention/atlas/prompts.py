"""Beginnings of sentences with one clear answer, by kind: English, as a model learns it."""

# Each prompt with the answer behind its bar: the word, or how it begins.
_KINDS = {
    "capitals": """\
The capital of France is| Paris
The capital of Germany is| Berlin
The capital of Japan is| Tokyo
The capital of Italy is| Rome
The capital of Greece is| Athens
The capital of England is| London
The capital of China is| Beijing
The capital of Hungary is| Budapest
The capital of Spain is| Madrid
The capital of Portugal is| Lisbon
The capital of Chile is| Santiago
The capital of Sweden is| Stockholm""",
    "opposite directions": """\
The sun rises in the east and sets in the| west
He turned left and she turned| right
The moon rises in the east and sets in the| west
First he looked to the left, then he looked to the| right
up and down, left and| right
The birds fly north in spring and| south
One army came from the east, the other from the| west
One door is on the left, the other is on the| right
The river flows from north to| south
The road runs from east to| west
north and south, east and| west
My house is on the left side and yours is on the| right""",
    "black and white": """\
day and night, black and| white
up and down, black and| white
good and bad, black and| white
left and right, black and| white
yes and no, black and| white
in and out, black and| white
big and small, black and| white
old and new, black and| white
love and hate, black and| white
sun and moon, black and| white
high and low, black and| white
light and dark, black and| white""",
    "colours": """\
The zebra is black and| white
The old film was in black and| white
The grass is green and the sky is| blue
Snow is white and coal is| black
The panda is black and| white
The photograph was not in colour but in black and| white
The flag of Japan is red and| white
The American flag is red, white and| blue
The chess pieces are black and| white
The keys of a piano are black and| white
Grass is green and blood is| red
The traffic light turned from green to| red""",
    "girls and boys": """\
man and woman, boy and| girl
king and queen, prince and| princess
father and mother, boy and| girl
prince and princess, king and| queen
king and queen, boy and| girl
man and woman, king and| queen
brother and sister, boy and| girl
kings and queens, princes and| princess
men and women, boys and| girls
brother and sister, husband and| wife
boys and girls, men and| women
father and mother, son and| daughter""",
    "names found again": """\
When Mary and John went to the store, John gave a drink to| Mary
When Anna and Peter went to the park, Peter gave a flower to| Anna
When Tom and Lucy went to the school, Lucy gave a book to| Tom
When Alice and Mark sat in the garden, Mark gave an apple to| Alice
After Kate and Daniel had dinner, Daniel gave the bill to| Kate
When James and Laura went to the market, Laura gave some bread to| James
When Sarah and David came home, David gave a letter to| Sarah
When Paul and Emma met at the station, Emma gave the ticket to| Paul
While Jane and Simon were working, Simon gave a pen to| Jane
When Henry and Rachel were at the beach, Rachel gave the ball to| Henry
Then Anna and Peter had a long talk, and Peter said goodbye to| Anna
When Lisa and Robert left the house, Robert gave the keys to| Lisa""",
    "agreement": """\
The keys to the old wooden cabinet| are
The key to the cabinets| is
Yesterday the keys to the old cabinet| were
We found that the door of the stables| was
I think that the keys to the cabinet| are
She thinks that the picture of the horses| is
Everybody knows that the windows of the house| are
He told me that the owner of the dogs| was
We saw that the doors of the church| were
I believe that the mother of the boys| is""",
    "repeated patterns": """\
Mr and Mrs Dursley of number four, Privet Drive, were proud. Mr and Mrs Dursley of| number
Doctor Brown of Green Street bought a horse. Doctor Brown of| Green
Miss Lind of River Farm bakes bread. Miss Lind of| River
Lord Varn of Ketter Hill lost his sword. Lord Varn of| Ket
Number seven, Mill Lane, is empty. Number seven, Mill| Lane
Sir Gall rode to Thorn Castle. At noon Sir Gall reached Thorn| Castle
He read the Book of Keys. She read the Book of| Keys
red fox, grey wolf, brown bear, red fox, grey wolf, brown| bear
I like green tea with honey. I like green tea with| honey
Captain Flint sailed the Silver Moon. Captain Flint sailed the| Silver
seven blue lamps, two red cups, seven blue lamps, two red| cups
The village of Stone Bridge is old. The village of Stone| Bridge""",
    "sequences": """\
one, two, three, four,| five
one, two, three,| four
Monday, Tuesday, Wednesday, Thursday,| Friday
January, February, March, April,| May
four, five, six,| seven
three, four, five,| six
B, C, D,| E
first, second, third, fourth,| fifth
ten, nine, eight, seven,| six
six, seven, eight,| nine
one, two, three, four, five,| six
A, B, C,| D""",
    "opposites": """\
The opposite of hot is| cold
The opposite of good is| bad
The opposite of wet is| dry
The opposite of open is| closed
The opposite of black is| white
The opposite of up is| down
The opposite of left is| right
The opposite of bad is| good
The opposite of high is| low
The opposite of strong is| weak
good and bad, rich and| poor
big and small, hot and| cold""",
    "cities and countries": """\
Paris, France. Tokyo,| Japan
London, England. Rome,| Italy
Berlin, Germany. Moscow,| Russia
Tokyo, Japan. Beijing,| China
Madrid, Spain. Berlin,| Germany
Tokyo, Japan. Paris,| France
Berlin, Germany. Dublin,| Ireland
Paris, France. Cairo,| Egypt
Paris, France. Lisbon,| Portugal
Madrid, Spain. Oslo,| Norway
London, England. Sydney,| Australia
Paris, France. Bangkok,| Thailand""",
    "pronouns": """\
Anna gave Peter her book. Peter thanked| her
Peter gave Anna his book. Anna thanked| him
My aunt sold her house because| she
My uncle sold his car because| he
The woman was late because| she
The man was late because| he
My grandmother is happy because| she
My father was late because| he
The wolves were hungry, so| they
The children were tired, so| they
The princess cried because| she
My brother went home because| he""",
    "set phrases": """\
New York, Los| Angeles
Open the door and close the| window
She put the book back on the| shelf
The United States of| America
It was a matter of life and| death
They lived happily ever| after
Merry Christmas and a Happy New| Year
The President of the United| States
She has lived there all her| life
To be or not to| be
It happens again and| again
He washed his hands with soap and| water""",
}

ANSWERS = {
    kind: dict(line.split("|") for line in lines.splitlines()) for kind, lines in _KINDS.items()
}
