// Sample events for testing an endpoint: shaped like real ones, marked `test`, with ids of nothing that exists.
const nobody = '00000000-0000-0000-0000-000000000000'
const here = '+10000000000'
const there = '+10000000001'

const statusOf: Record<string, string> = { 'instance.connected': 'connected', 'instance.disconnected': 'disconnected' }

export function samplePayload(type: string, id: string, at: Date): Record<string, unknown> {
  const head = { id, event: type, test: true, instanceId: nobody }
  const timestamp = at.toISOString()
  if (type.startsWith('instance.')) return { ...head, status: statusOf[type], timestamp }
  const message = { ...head, messageId: nobody, providerMessageId: 'test' }
  if (type === 'message.received') {
    return { ...message, from: there, to: here, type: 'text', body: 'test', status: 'received', timestamp }
  }
  const status = type.slice('message.'.length)
  return { ...message, to: there, status, ...(status === 'failed' ? { error: 'TEST' } : {}), timestamp }
}
