// The words of the pages before the sign-in in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  signIn: {
    title: 'Entrar',
    submit: 'Entrar',
    create: 'Criar uma conta',
    forgot: 'Esqueceu a senha?',
    sso: 'Entrar com login único',
    failed: 'Não foi possível entrar.',
    reasons: {
      access_denied: 'O provedor de identidade negou o acesso.',
      account_not_linked: 'Seu e-mail pertence a uma conta que este login não pode usar. Entre com a senha dela.',
      email_not_valid: 'O provedor de identidade não informou um e-mail válido.',
      email_not_verified: 'O provedor de identidade não verificou seu e-mail.',
      invalid_code: 'O provedor de identidade não confirmou a entrada. O operador deste gateway encontra o motivo no log.',
      signup_disabled: 'Você não tem conta aqui, e o login único não pode criar uma. Fale com quem opera este gateway.',
      temporarily_unavailable: 'O login único não está disponível no momento. Tente de novo em um minuto.',
    },
    redeeming: 'Entrando …',
    verifyAgain: 'Enviar de novo o e-mail de verificação',
    verifySent: 'Se o endereço aguarda verificação, um e-mail está a caminho.',
  },
  signUp: {
    title: 'Criar uma conta',
    submit: 'Criar conta',
    done: 'Enviamos um e-mail para você. Abra o link nele para ativar sua conta.',
    closed: 'Não é possível criar contas aqui. Fale com quem opera este gateway.',
    have: 'Entrar em vez disso',
  },
  reset: {
    title: 'Redefinir a senha',
    ask: 'Enviar um link',
    asked: 'Se existe uma conta com este endereço, enviamos um e-mail para ela.',
    newPassword: 'Nova senha',
    submit: 'Definir senha',
    done: 'Sua senha foi definida. Você já pode entrar com ela.',
  },
  verify: {
    title: 'Verificar seu e-mail',
    hint: 'A senha que você escolheu ao criar a conta.',
    submit: 'Verificar',
    done: 'Seu endereço foi verificado. Você já pode entrar.',
  },
  invitation: {
    title: 'Entrar na equipe',
    submit: 'Participar',
    missing: 'Este endereço não tem convite. Abra o link do e-mail.',
    reasons: {
      FORBIDDEN: 'O convite é para outro endereço de e-mail, ou o seu não foi verificado.',
      INVALID_TOKEN: 'O convite já foi usado, foi retirado ou expirou. Peça outro.',
    },
    to: (team: string) => `Você foi convidado para a equipe ${team}.`,
    another: 'Entrar com outra conta',
  },
}
