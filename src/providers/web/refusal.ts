// Error codes of the gateway for the codes with which the network refuses a message.

const restricting = new Set(['463', '402', '403'])

export function refusal(code: string): { error: string; detail: string } {
  const error = restricting.has(code) ? 'ACCOUNT_RESTRICTED' : 'PROVIDER_ERROR'
  const words = code === '463' ? 'the network does not let this account begin new chats' : 'the network refused the message'
  return { error, detail: `${words} (${code})` }
}
