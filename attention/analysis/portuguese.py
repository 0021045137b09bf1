"""Portuguese sentences that come with the library: for passports of the heads that read these."""

SENTENCES = """\
O gato dorme na cadeira ao lado da janela.
A minha irmã estuda medicina em Coimbra.
Ontem choveu durante toda a noite.
O professor explicou a lição aos alunos.
Gosto de caminhar na praia ao fim da tarde.
O médico disse que ela está muito cansada.
Onde fica a farmácia mais próxima?
As crianças brincam no jardim depois da escola.
O rio passa no meio da cidade.
Ele perdeu as chaves de casa no parque.
Este bolo leva pouco açúcar.
A loja abre às nove da manhã.
O meu avô nasceu numa aldeia perto do mar.
Por favor, feche a porta quando sair.
O filme foi mais longo do que o livro.
Eles vivem neste país há dez anos.
Quero uma sopa e um copo de água.
A polícia prendeu o ladrão na semana passada.
Ninguém sabia a resposta à pergunta.
O navio chegou ao porto antes do amanhecer.
O homem abriu a janela porque estava calor.
A minha mãe faz o melhor pão da cidade.
Os alunos leram o livro durante as férias.
Amanhã vou visitar os meus pais.
A ponte foi fechada por causa da tempestade.
Ela fala quatro línguas sem dificuldade.
O cão correu atrás da bola.
Se chover amanhã, ficamos em casa.
O presidente assinou a lei na sexta-feira.
A água ferve a cem graus.
O rapaz deu as flores à mãe.
O museu está fechado às segundas-feiras.
Não tenho fome, mas tenho sede.
A lua anda à volta da Terra.
O velho atravessou a rua devagar.
Esqueci o meu livro na mesa da cozinha.
Os pescadores saíram para o mar de madrugada.
A chave que encontrei não abre esta porta.
O meu irmão trabalha num hospital.
A reunião começa às três da tarde.
Ela escreveu uma carta ao filho.
O vinho desta região é famoso.
As folhas caem das árvores no outono.
Ele não respondeu à minha mensagem.
O menino que partiu o vidro fugiu.
As casas desta rua são muito antigas.
A cantora agradeceu ao público e saiu do palco.
O café daqui é melhor do que o de casa.
Dois mil espectadores assistiram ao concerto.
Os soldados marcharam durante três dias.
O agricultor plantou milho e feijão.
A menina tem medo do escuro.
O preço do petróleo subiu outra vez.
Eles compraram uma casa perto da praia.
O sol nasce a leste e põe-se a oeste.
O rei prometeu ao povo pão e paz.
A biblioteca empresta livros e filmes.
O cavalo saltou a cerca e desapareceu.
Já não me lembro do nome dela.
O avião aterrou com duas horas de atraso.
A professora pediu silêncio aos alunos.
O jornal diz que a greve acabou.
Os turistas tiraram fotografias da igreja.
O bebé chorou até a mãe chegar.
A sopa está quente demais para comer.
Os meus tios moram no Brasil.
O lobo viu o caçador primeiro.
A empresa vendeu menos carros este ano.
A neve cobriu as montanhas durante a noite.
O juiz ouviu as testemunhas e decidiu.
A torre pode ser vista de muito longe.
O meu vizinho tem dois cães e um papagaio.
Os dois irmãos já não se falam.
O ladrão entrou pela janela da cozinha.
A estrada ficou cheia de pedras.
Os cientistas descobriram um novo planeta.
O pintor misturou o azul com o amarelo.
A fábrica fechou e muitos perderam o emprego.
O relógio da torre parou ao meio-dia.
Ela nunca tinha visto o mar.
O cozinheiro provou o molho e juntou sal.
As maçãs desta árvore são pequenas, mas doces.
O autor destas cartas é desconhecido.
A equipa ganhou o jogo no último minuto.
O governo vai construir mais escolas.
Todos os dias ele lê o jornal.
As aves voam para o sul no inverno.
A rainha ofereceu um anel ao cavaleiro.
O carpinteiro fez uma mesa e quatro cadeiras.
Não vejo a minha prima desde o verão.
O vento levou o chapéu da senhora.
A vela apagou-se e a sala ficou escura.
Os pais do rapaz vivem no estrangeiro.
O motorista parou porque o sinal estava vermelho.
A minha avó conta histórias todas as noites.
Os trabalhadores pintaram a ponte em maio.
O queijo e o presunto estão na mesa.
A história dos dois reis é muito triste.
O peixe foi comido pelo gato.
Ele quer ser médico quando crescer.
A carta chegou três semanas depois.
Os exames mostraram que a água era boa.
O elevador não funciona desde ontem.
As portas da igreja estavam abertas.
O marinheiro viu uma luz ao longe.
Ela tem mais livros do que o irmão.
O poeta que escreveu estes versos morreu jovem.
A mala era pesada, por isso pedi ajuda.
O mercado fica atrás da estação.
Eu não sabia que ele era casado.
As galinhas fugiram para a floresta.
O palácio foi construído no século dezoito.
A minha amiga toca piano e violino.
O barco partiu sem nós.
O doente perguntou quando podia voltar a casa.
Há muita gente à espera na rua.
O lago gelou e as crianças patinaram nele.
A bandeira do país é verde e vermelha.
O padeiro acorda todos os dias às quatro.
Os livros da escola são caros.
A aranha esperou no meio da teia.
O arquiteto desenhou a nova biblioteca.
O meu pai vendeu a casa em março.
As ovelhas desceram da montanha ao anoitecer.
A criança escondeu o brinquedo debaixo da cama.
O diretor chamou os alunos ao gabinete.
O chá arrefeceu antes de ele o beber.
Ela sorriu quando me viu.
A corda era curta demais para chegar ao barco.
Os vizinhos ouviram um barulho estranho.""".splitlines()

# English puts each the other way round, so that their translations end with an earlier word.
KINDS = {
    "adjectives behind nouns": """\
A minha vizinha comprou um carro vermelho.
Ele mora numa casa branca.
Ela usa um vestido azul.
O menino encontrou uma pedra preta.
Comemos uma sopa quente.
A avó contou uma história triste.
O barco entrou num porto seguro.
O professor fez uma pergunta difícil.
A cidade tem um museu moderno.
Eles vivem num país rico.
O rei tinha um filho único.
A menina bebeu um copo de leite frio.
O gato apanhou um rato gordo.
Ela tem cabelo loiro.
O pintor comprou tinta verde.
Ele trouxe uma notícia importante.
Os alunos leram um livro interessante.
O médico deu-lhe uma resposta clara.
A mãe comprou sapatos pretos.
O jardim tem muitas flores amarelas.
Os turistas visitaram uma igreja antiga.
O velho trazia um chapéu castanho.
Ela ouviu um barulho estranho.
O ladrão saiu por uma porta aberta.
A empresa contratou um engenheiro francês.
O ministro fez um discurso longo.
Ele deitou-se numa cama macia.
A rua acaba num muro alto.
O cozinheiro usa uma faca afiada.
A equipa precisa de um jogador forte.
Os soldados atravessaram um rio profundo.
Ela cantou uma canção portuguesa.
O carteiro deixou uma carta anónima.
O menino pediu uma camisola limpa.
A rainha usava um anel precioso.
O cientista teve uma ideia brilhante.
O caçador viu um animal selvagem.
A loja vende roupa barata.
O juiz tomou uma decisão justa.
Passámos ali uma noite tranquila.
O poeta viveu uma vida curta.
A fábrica tem uma máquina nova.
Ele contou uma piada velha.
O padre falou com voz baixa.
A criança desenhou um círculo perfeito.
O restaurante serve comida italiana.""".splitlines(),
    "verbs before their subjects": """\
Não sei onde mora a tua irmã.
Diz-me quanto custa este livro.
Queremos saber a que horas abre o museu.
Já sei quando começa a aula.
Não sei que língua falam os teus pais.
Ninguém percebe como funciona esta máquina.
Não sei o que significa esta palavra.
Ela sabe onde trabalha o teu pai.
Esta é a cidade onde nasceu a minha mãe.
Queremos saber quando chega o avião.
Ninguém sabe o que come este animal.
Não sei quanto ganha um professor.
Já sei onde estuda o teu irmão.
Ninguém sabe quando parte o barco.
Não percebo o que quer aquele homem.
Quero saber quanto pesa esta mala.
Ninguém sabe onde dorme o gato.
Não sei o que pensa a tua mãe.
Diz-me quando acaba o filme.
Esta é a cama onde dorme o menino.
Ninguém sabe onde nasce este rio.
Não percebi o que disse o médico.
Quero saber quanto tempo demora a viagem.
Sabemos onde cresce esta planta.
Sabemos quando morreu a rainha.
Vimos o que fez a polícia.
Ninguém sabe como morreu o rei.
Sabemos onde caiu o avião.
Não sei o que vende esta loja.
Diz-me quando volta a tua amiga.
Não sei o que bebem os teus amigos.
Ela viu onde brincam as crianças.
Ninguém sabe o que pensa o ministro.
Não percebo por que razão chora o menino.
Ele lembra-se de quando terminou a guerra.
Sabemos onde vivem os lobos.
Li tudo o que escreveu o poeta.
Vimos onde caiu a pedra.
Ninguém viu como fugiu o ladrão.
Ouvi o que disse a tua avó.
Não sei onde acaba esta estrada.
Esta é a casa onde vive o meu tio.
Já vi o que mostram os exames.
Não sei quando nasceu a tua filha.
Esta é a casa onde nasceu o poeta.
Ninguém sabe de onde veio este homem.""".splitlines(),
}
