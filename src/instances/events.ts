// The events of instances.
import { z } from 'zod'
import { nilId } from '../core/id.ts'
import { defineEvent, type NewEvent } from '../events/log/define.ts'
import { InstanceStatus } from '../generated/prisma/enums.ts'

const instanceId = z.uuid().describe('The instance of the event.')
const statusDescription = 'The current connection status.'

export const instanceConnected = defineEvent({
  type: 'instance.connected',
  summary: 'An instance connected',
  payload: z.object({ instanceId, status: z.literal('connected').describe(statusDescription) }),
  subject: ({ instanceId }) => ({ instanceId }),
  sample: { instanceId: nilId, status: 'connected' },
})

export const instanceDisconnected = defineEvent({
  type: 'instance.disconnected',
  summary: 'An instance lost its connection',
  payload: z.object({ instanceId, status: z.enum(InstanceStatus).exclude(['connected']).describe(statusDescription) }),
  subject: ({ instanceId }) => ({ instanceId }),
  sample: { instanceId: nilId, status: 'disconnected' },
})

/** The event of an instance that has just become connected, or has just stopped being connected. */
export function stateEvent(workspaceId: string, instanceId: string, status: InstanceStatus, at: Date): NewEvent {
  const occurrence = { workspaceId, at }
  if (status === 'connected') return instanceConnected.event({ instanceId, status }, occurrence)
  return instanceDisconnected.event({ instanceId, status }, occurrence)
}
