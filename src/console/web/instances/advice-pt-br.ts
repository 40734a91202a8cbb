// The recommendations of the gateway for an instance in Brazilian Portuguese.

/** By the English sentence. */
export const advice: Readonly<Record<string, string>> = {
  'The provider restricted this account: stop sending until the restriction is lifted.':
    'A rede restringiu esta conta: pare de enviar até que a restrição termine.',
  'The provider warned of this account: send less, and to people who know you.':
    'A rede alertou sobre esta conta: envie menos, e para pessoas que conhecem você.',
  'Many messages fail: check the numbers before you send.': 'Muitas mensagens falham: confira os números antes de enviar.',
  'Many recipients never wrote to you: write to people who know you first.':
    'Muitos destinatários nunca escreveram a você: escreva primeiro a pessoas que conhecem você.',
  'More messages an hour than recommended for this account: spread them out.':
    'Há mais mensagens por hora do que o recomendado para esta conta: distribua-as melhor.',
  'More messages a day than recommended for this account: send fewer.':
    'Há mais mensagens por dia do que o recomendado para esta conta: envie menos.',
  'Too many recipients in one hour: spread the messages out.': 'Destinatários demais em uma hora: distribua as mensagens.',
  'Too many recipients in one day: write to fewer.': 'Destinatários demais em um dia: escreva a menos pessoas.',
  'The connection dropped: check the phone and its network.': 'A conexão caiu: confira o telefone e a rede dele.',
}
