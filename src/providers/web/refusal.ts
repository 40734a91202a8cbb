// Error codes of the gateway for the codes with which the network refuses a message.

const restricting = new Set(['463', '402', '403'])

export function refusal(code: string): { error: string; detail: string } {
  const error = restricting.has(code) ? 'ACCOUNT_RESTRICTED' : 'PROVIDER_ERROR'
  const words = code === '463' ? 'the network does not let this account begin new chats' : 'the network refused the message'
  return { error, detail: `${words} (${code})` }
}

/** The network asks for a pause, and has taken nothing. */
export const tooMany = '429'

/** The code with which the network refused a question that the package asked; undefined for every other error. */
export function codeOfAnswer(error: unknown): string | undefined {
  const { isBoom, data } = error as { isBoom?: unknown; data?: unknown }
  return isBoom === true && typeof data === 'number' ? String(data) : undefined
}
