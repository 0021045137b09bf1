"""Sentences whose translations no rounding can turn: see `MARGIN`."""

# How much likelier each piece of their translations is, at the least, than any other.
MARGIN = 1.15

ENGLISH = """\
The cat sat on the mat because it was tired.
He sat on the bank of the river and watched the water.
My brother and I are going to the beach tomorrow.
We visited three museums in Lisbon last summer.
Two thousand people attended the concert.
Please close the door when you leave.
I would like a cup of coffee with milk.
The dog chased the ball across the field.
The scientists discovered a new planet.
I forgot my keys on the kitchen table.
Nobody knew the answer to the question.
My grandmother makes the best bread in the city.
Water boils at one hundred degrees.
We need to buy milk, eggs and bread.
The train was late again.
His answer surprised everyone in the room.
The restaurant on the corner serves fish.
Time is money.""".splitlines()

PORTUGUESE = """\
O gato dorme em cima da mesa.
O banco aumentou as taxas de juros ontem.
Meu irmão e eu vamos à praia amanhã.
Visitamos três museus em Lisboa no verão passado.
Duas mil pessoas assistiram ao concerto.
Por favor, feche a porta quando sair.
O presidente assinou a lei na sexta-feira.
Ele nasceu em uma pequena aldeia perto das montanhas.
A reunião começa às nove horas da manhã.
Os pássaros voam para o sul no inverno.
Você não deveria dirigir tão rápido.
O navio afundou no meio do oceano.
A polícia prendeu o ladrão ontem à noite.
Ela escreveu uma carta para sua amiga no Brasil.
O agricultor plantou milho e feijão.
Não estou com fome, mas estou com sede.
Tempo é dinheiro.
Leia as instruções antes de ligar a máquina.""".splitlines()
