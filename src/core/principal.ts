// The authenticated principal, and what its plan allows.

export type TeamRole = 'owner' | 'admin' | 'collaborator'

/** The access of an API key: everything, sending, or reading. */
export type KeyAccess = 'full' | 'send' | 'read'

/** The identity that a credential stands for, read from the database by this request. */
export interface Principal {
  /** Id of the API key or, for a person, of the session. */
  credentialId: string
  /** Kind of the API key; `console` for a person who is signed in. */
  kind: 'personal' | 'team' | 'console'
  /** `full` for a person. */
  access: KeyAccess
  /** The user who created the key, or who is signed in. Rows that people answer for store it; see also {@link senderOf}. */
  userId: string
  workspaceId: string
  /** The team that owns the workspace; null for a personal workspace. */
  teamId: string | null
  /** The person's role in the team; null in a personal workspace and for a key. */
  role: TeamRole | null
  /** The workspace's owner, whose subscription pays. */
  ownerId: string
  /** Name of the plan in force. */
  plan: string
  /** True if the subscription allows creating and sending. */
  active: boolean
}

/** The user whom messages and campaigns name: a team key stands for the owner, whoever created it. */
export function senderOf({ kind, userId, ownerId }: Pick<Principal, 'kind' | 'userId' | 'ownerId'>): string {
  return kind === 'team' ? ownerId : userId
}

/** Limits of a plan; null is unlimited. */
export interface PlanLimits {
  maxInstances: number
  maxApiKeys: number
  maxWebhookEndpoints: number
  monthlyOutboundQuota: number
  monthlyApiRequestQuota: number
  maxContactGroups: number | null
  /** Bytes of all stored files together. */
  maxMediaBytes: number
}

export interface PlanFeatures {
  campaigns: boolean
  statuses: boolean
  voiceNotes: boolean
  webhooks: boolean
  numberLookups: boolean
}
