// Error codes of the gateway for the codes with which the network refuses a message.

/** The network lets the account begin no new chats. */
export const noNewChats = { code: '463', words: 'the network does not let this account begin new chats' }

const restricting = new Set([noNewChats.code, '402', '403'])

/** True if the code tells of a restriction of the account. */
export function isRestriction(code: string): boolean {
  return restricting.has(code)
}

export function refusal(code: string): { error: string; detail: string } {
  const error = isRestriction(code) ? 'ACCOUNT_RESTRICTED' : 'PROVIDER_ERROR'
  const words = code === noNewChats.code ? noNewChats.words : 'the network refused the message'
  return { error, detail: `${words} (${code})` }
}

/** The network asks for a pause, and has taken nothing. */
export const tooMany = '429'

/** The code with which the network refused a question that the package asked; undefined for every other error. */
export function codeOfAnswer(error: unknown): string | undefined {
  const { isBoom, data } = error as { isBoom?: unknown; data?: unknown }
  return isBoom === true && typeof data === 'number' ? String(data) : undefined
}
