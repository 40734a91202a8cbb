// The texts of all mails, one for each kind.
import { quotedName } from './quoted-name.ts'

export type MailOrder =
  /** Verifies an address. */
  | { kind: 'verify'; to: string; token: string }
  /** Sets a new password, of an account whose address is verified or not. */
  | { kind: 'reset'; to: string; token: string; verified: boolean }
  /** Tells the owner of an address that somebody tried to sign up with it again. */
  | { kind: 'known'; to: string }
  /** Tells what rests because a plan fell. `endpoints` are URLs, the others names. */
  | { kind: 'rests'; to: string; plan: string; instances: string[]; endpoints: string[]; keys: string[] }
  | { kind: 'invitation'; to: string; token: string; team: string; inviter: string }

export interface MailText {
  subject: string
  text: string
}

/** Returns subject and text of a mail. Links lead to the console at `console`, a URL without a trailing slash. */
export function composeMail(order: MailOrder, console: string): MailText {
  const link = (page: string, token: string) => `${console}/${page}?token=${encodeURIComponent(token)}`
  switch (order.kind) {
    case 'verify':
      return {
        subject: 'Verify your e-mail address',
        text: lines(
          'Someone, probably you, signed up with this e-mail address and chose a password. If it was you, verify the address:',
          link('verify-email', order.token),
          'The link is valid for one day and works once. It becomes invalid if someone signs up again with another name or password.',
          'If it was not you, do not open the link: someone else knows the password. You can ignore this mail.',
        ),
      }
    case 'reset':
      return {
        subject: 'Set a new password',
        text: lines(
          'Set a new password here:',
          link('reset-password', order.token),
          'The link is valid for one hour and works once. A new password ends all sessions and revokes the API keys and open invitations that were created with this account.',
          'If you did not request this, you can ignore this mail. Nothing has changed.',
        ),
      }
    case 'known':
      return {
        subject: 'You already have an account',
        text: lines(
          'Someone, probably you, tried to sign up with this e-mail address. An account with this address already exists.',
          `Sign in, or set a new password if you have forgotten it: ${console}/`,
          'If it was not you, you can ignore this mail. Nothing has changed.',
        ),
      }
    case 'rests':
      return {
        subject: `Your plan is now ${order.plan}`,
        text: lines(
          `Your plan is now ${order.plan}. Everything that exceeds it is kept, but rests: nothing is sent through these instances, nothing is delivered to these webhook endpoints, and these API keys are refused.`,
          ...listOf('Instances', order.instances.map(quotedName)),
          ...listOf('Webhook endpoints', order.endpoints),
          ...listOf('API keys', order.keys.map(quotedName)),
          'All of it works again as soon as the plan allows it: when you choose a larger plan, or delete what you no longer need.',
        ),
      }
    case 'invitation': {
      const [inviter, team] = [quotedName(order.inviter), quotedName(order.team)]
      return {
        subject: `Invitation to the team ${team}`,
        text: lines(
          `${inviter} invites you to the team ${team}. Sign in with this e-mail address and accept:`,
          link('invitation', order.token),
          'The invitation is valid for seven days. The names in quotes were chosen by users of this service. If you do not expect this mail, ignore it.',
        ),
      }
    }
  }
}

function lines(...paragraphs: string[]): string {
  return `${paragraphs.join('\n\n')}\n`
}

function listOf(title: string, names: readonly string[]): string[] {
  return names.length > 0 ? [[`${title}:`, ...names.map((name) => `- ${name}`)].join('\n')] : []
}
