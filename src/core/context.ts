// Who is asking, and with what: made once a request, handed to every resolver.
import type { App } from './app.ts'
import type { Budget } from './graph/budget.ts'
import type { Sending } from './share.ts'

export type TeamRole = 'owner' | 'admin' | 'collaborator'

/** What a credential stands for, as read from the database by this very request. */
export interface Principal {
  /** The key or, of a person, the session. */
  credentialId: string
  /** Whose key it is; `console` for a person who is signed in. */
  kind: 'personal' | 'team' | 'console'
  /** The user who made the key, or who is signed in; new rows carry it. */
  userId: string
  workspaceId: string
  /** The team whose workspace it is; null in a personal one. */
  teamId: string | null
  /** What a person is in the team; null in a personal workspace, and for a key. */
  role: TeamRole | null
  /** Whose subscription pays: the workspace's owner. */
  ownerId: string
  /** The plan in force now. */
  plan: string
  /** Whether the subscription allows creating and sending. */
  active: boolean
}

/** A caller's promise that a repeated request is the same one. */
export interface Idempotency {
  key: string
  /** SHA-256 of the route and body, or of the mutation and its arguments. */
  fingerprint: Buffer
  /** Set when the answer is a kept one. */
  replayed: boolean
}

/** The numbers of a plan; null is unlimited. */
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

export interface Context {
  app: App
  principal: Principal
  limits: PlanLimits
  features: PlanFeatures
  requestId: string
  idempotency: Idempotency | null
  /** What the operation that runs may still answer. */
  budget?: Budget
  /** How the answer is sent, where that may take a while. */
  response?: Sending
}
