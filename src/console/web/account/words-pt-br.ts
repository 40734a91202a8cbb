// The words of the page Account in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Conta',
  sessions: 'Sessões',
  browser: 'Navegador',
  address: 'Endereço',
  started: 'Início',
  thisOne: 'Esta',
  end: 'Encerrar',
  endOf: (browser) => `Encerrar a sessão de ${browser}`,
  endOthers: 'Encerrar todas as outras',
  unknown: 'Desconhecido',
  changePassword: 'Mudar a senha',
  current: 'Senha atual',
  newPassword: 'Nova senha',
  changed: 'A senha mudou. As outras sessões terminaram.',
  deleteAccount: 'Excluir conta',
  deleteNote:
    'Suas sessões, chaves, instâncias e equipes terminam na hora, e o que elas contêm é excluído em até um dia. Isso não pode ser desfeito.',
  deleteProof: 'Sua senha',
  appearance: 'Idioma e aparência',
  language: 'Idioma',
  theme: 'Tema',
  themes: { auto: 'Como o sistema', light: 'Claro', dark: 'Escuro' },
  zone: 'Fuso horário',
  local: (zone) => `Como este computador (${zone})`,
  plan: 'Plano',
}
