"""Sentences whose translations no rounding can turn: see `MARGIN`."""

# How much likelier each piece of their translations is, at the least, than any other.
MARGIN = 1.15

ENGLISH = """\
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
The meeting starts at nine o'clock in the morning.
I forgot my keys on the kitchen table.
The film was longer than the book.
The red car is faster than the blue one.
Nobody knew the answer to the question.
You should not drive so fast.
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
The train was late again.
Do you know what time it is?
The farmer planted corn and beans.
His answer surprised everyone in the room.
The moon moves around the Earth.
I am not hungry, but I am thirsty.
The restaurant on the corner serves fish.
Long ago, a king lived in this castle.
The boy who broke the window ran away.
Time is money.""".splitlines()

PORTUGUESE = """\
O gato dorme em cima da mesa.
Onde fica a estação de trem mais próxima?
Ela abriu a janela para deixar entrar ar fresco.
O banco aumentou as taxas de juros ontem.
Nunca vi um pôr do sol tão bonito.
As crianças estavam brincando no jardim.
Meu irmão e eu vamos à praia amanhã.
O velho atravessou a rua devagar.
Você pode me ajudar a carregar estas caixas?
Visitamos três museus em Lisboa no verão passado.
O médico disse para ela beber mais água.
Choveu a noite toda e as ruas ficaram alagadas.
Duas mil pessoas assistiram ao concerto.
A professora pediu aos alunos que lessem o livro.
Esta sopa precisa de um pouco mais de sal.
Por favor, feche a porta quando sair.
Eles construíram uma nova ponte sobre o rio em 1998.
Eu gostaria de uma xícara de café com leite.
O presidente assinou a lei na sexta-feira.
Quanto custa esta camisa?
O cachorro correu atrás da bola.
Ele nasceu em uma pequena aldeia perto das montanhas.
Os cientistas descobriram um novo planeta.
Ela fala quatro línguas fluentemente.
A reunião começa às nove horas da manhã.
Esqueci minhas chaves na mesa da cozinha.
O filme era mais longo do que o livro.
Os pássaros voam para o sul no inverno.
O carro vermelho é mais rápido que o azul.
Ninguém sabia a resposta para a pergunta.
Você não deveria dirigir tão rápido.
A empresa vendeu mais carros este ano.
Minha avó faz o melhor pão da cidade.
O navio afundou no meio do oceano.
Ele deu as flores para sua mãe.
A água ferve a cem graus.
A polícia prendeu o ladrão ontem à noite.
Precisamos comprar leite, ovos e pão.
O museu fecha às segundas-feiras.
Ela escreveu uma carta para sua amiga no Brasil.
O trem atrasou de novo.
Você sabe que horas são?
O agricultor plantou milho e feijão.
Sua resposta surpreendeu a todos na sala.
A lua gira em torno da Terra.
Não estou com fome, mas estou com sede.
O restaurante da esquina serve peixe.
O menino que quebrou a janela fugiu.
Tempo é dinheiro.
Bom dia!
A área econômica da União Europeia é grande.
Leia as instruções antes de ligar a máquina.""".splitlines()
