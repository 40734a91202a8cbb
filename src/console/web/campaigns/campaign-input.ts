// Turns the fields of the forms of campaigns into the inputs of the graph.
import type { CreateCampaignInput, WholeCampaignFragment } from '../generated/campaigns/graphql.ts'
import { type FormType, inputOf, momentIn, wholeIn } from '../send/input.ts'
import type { Draft } from '../session/drafts.ts'
import type { Recipient } from './read-recipients.ts'

/** The rate and the quiet hours that a form begins with. */
export interface Pace {
  /** As text, if that is what a draft has. */
  ratePerMinute?: number | string | null
  quietHours?: WholeCampaignFragment['quietHours']
  /** False while quiet hours are off. Their times are kept for when they are switched on again. */
  isQuiet?: boolean
}

/** The rate and the quiet hours. An empty rate is the default, and no quiet hours are null. */
export function paceIn(fields: FormData): Pick<CreateCampaignInput, 'ratePerMinute' | 'quietHours'> {
  const said = (name: string) => String(fields.get(name) ?? '')
  return {
    ratePerMinute: said('ratePerMinute').trim() ? wholeIn(said('ratePerMinute')) : null,
    quietHours: fields.has('quiet') ? { from: said('quietFrom'), to: said('quietTo'), timeZone: said('quietZone') } : null,
  }
}

/** The rate and the quiet hours that a form said, or those of an earlier campaign. */
export function paceSaid(
  said: Draft['said'],
  earlier: Pick<WholeCampaignFragment, 'ownRatePerMinute' | 'quietHours'> | null,
): Pace {
  const { ratePerMinute = earlier?.ownRatePerMinute, quietFrom, quietTo = '', quietZone = '' } = said
  if (quietFrom === undefined) return { ratePerMinute, quietHours: earlier?.quietHours }
  return {
    ratePerMinute,
    quietHours: { from: quietFrom, to: quietTo, timeZone: quietZone },
    isQuiet: said['quiet on'] === 'on',
  }
}

/** Fields of the form that are no fields of the message. */
const others = [
  'pasted',
  'file',
  'search',
  'when',
  'ratePerMinute',
  'quiet',
  'quietFrom',
  'quietTo',
  'quietZone',
  'groupIds',
  'scheduled',
]

interface Chosen {
  type: FormType
  recipients: Recipient[]
  contactIds: string[]
  zone: string
}

/** The input of the form. Empty fields are left out, so that the gateway says which of them it needs. */
export function campaignIn(fields: FormData, { type, recipients, contactIds, zone }: Chosen): CreateCampaignInput {
  const message = new FormData()
  for (const [name, value] of fields) if (!others.includes(name)) message.append(name, value)
  const { to: _, name, ...content } = inputOf(message, type)
  const groupIds = fields.getAll('groupIds').map(String)
  return {
    ...content,
    name: String(name ?? ''),
    recipients,
    ...(contactIds.length > 0 && { contactIds }),
    ...(groupIds.length > 0 && { groupIds }),
    ...(fields.has('scheduled') && { scheduledAt: momentIn(zone, String(fields.get('when') ?? '')) }),
    ...paceIn(fields),
  }
}
