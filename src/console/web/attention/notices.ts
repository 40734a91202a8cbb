// Decides what the shell warns of, the worst first.
import type { AttentionOfCollaboratorQuery, AttentionQuery, WatchedEndpointFragment } from '../generated/attention/graphql.ts'
import type { Instance } from '../graph/use-instances.ts'
import { isOutdated } from '../settings.ts'
import { count, locale } from '../words/words.ts'
import { text } from './words.ts'

export interface Notice {
  /** Two notices with the same key say the same. */
  key: string
  text: string
  /** The page of the workspace that tells more; null if the page is to be loaded again. */
  page: string | null
}

type Billing = Pick<AttentionQuery, 'usage' | 'subscription'>
type OwnTeam = AttentionOfCollaboratorQuery['team']

/** The data that warnings are computed from, besides the instances. */
export interface Watched {
  /** Undefined for collaborators of a team. */
  billing?: Billing
  /** The team of a collaborator. */
  team?: OwnTeam
  endpoints: readonly WatchedEndpointFragment[]
}

/** The share of a quota from which on it is worth a warning. */
const nearlyUsed = 0.8

export function noticesOf({ billing, team, endpoints }: Watched, instances: readonly Instance[]): Notice[] {
  return [
    ...(billing ? ofBilling(billing) : []),
    ...(team && !team.active ? ofStopped(team) : []),
    ...ofInstances(instances),
    ...ofEndpoints(endpoints),
    ...(isOutdated ? [{ key: 'version', text: text.newVersion, page: null }] : []),
  ]
}

function ofBilling({ subscription: { suspended, status }, usage }: Billing): Notice[] {
  const { monthlyOutboundQuota, monthlyApiRequestQuota } = usage.plan.limits
  const standing = suspended ? 'suspended' : status
  const known = ['suspended', 'inactive', 'past_due'] as const
  const ofStanding = known.filter((each) => each === standing)
  return [
    ...ofStanding.map((key) => ({ key, text: text[key], page: 'billing' })),
    ...ofQuota('messages', usage.effectiveOutboundUsage, monthlyOutboundQuota),
    ...ofQuota('requests', usage.apiRequestsCount, monthlyApiRequestQuota),
  ]
}

/** Collaborators do not see the subscription, so they are told whom to ask. */
function ofStopped({ members }: NonNullable<OwnTeam>): Notice[] {
  const owner = members.find(({ role }) => role === 'owner')
  return [{ key: 'inactive', text: text.stopped(owner?.name ?? ''), page: 'team' }]
}

function ofQuota(name: 'messages' | 'requests', used: number, most: number): Notice[] {
  if (used < most * nearlyUsed) return []
  const isUsedUp = used >= most
  // Rounded down, because 99.6 % is not all of it.
  const share = new Intl.NumberFormat(locale, { style: 'percent' }).format(Math.floor((used / most) * 100) / 100)
  const sentence = isUsedUp ? text[name].usedUp : text[name].nearly(share, count(most))
  return [{ key: `${name} ${isUsedUp}`, text: sentence, page: 'usage' }]
}

/** Those that were connected. An instance that was never connected is news to nobody. */
function ofInstances(instances: readonly Instance[]): Notice[] {
  const down = instances.filter(({ status }) => status === 'disconnected' || status === 'logged_out')
  const [first] = down
  if (!first) return []
  const key = `instances ${down.map(({ id }) => id)}`
  if (down.length > 1) return [{ key, text: text.instancesDown(count(down.length)), page: 'instances' }]
  const says = first.status === 'logged_out' ? text.loggedOut : text.disconnected
  return [{ key, text: says(first.name), page: `instances/${first.id}` }]
}

/** Without those that were disabled by hand. */
function ofEndpoints(endpoints: readonly WatchedEndpointFragment[]): Notice[] {
  const disabled = endpoints.filter(({ disabledAt, disabledReason }) => disabledAt && disabledReason !== 'by_hand')
  const [first] = disabled
  if (!first) return []
  const key = `endpoints ${disabled.map(({ id }) => id)}`
  if (disabled.length > 1) return [{ key, text: text.endpointsDisabled(count(disabled.length)), page: 'webhooks' }]
  return [{ key, text: text.endpointDisabled(new URL(first.url).host), page: `webhooks/${first.id}` }]
}
