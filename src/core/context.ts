// Request context: the authenticated principal and its dependencies, created once per request and passed to every resolver.
import type { App } from './app.ts'
import type { Budget } from './graph/budget.ts'
import type { PlanFeatures, PlanLimits, Principal } from './principal.ts'
import type { Sending } from './share.ts'

/** An Idempotency-Key: the caller declares that requests with the same key and fingerprint are the same request. */
export interface Idempotency {
  key: string
  /** SHA-256 of the route and body, or of the mutation and its arguments. */
  fingerprint: Buffer
  /** True if the response is a stored one. */
  replayed: boolean
  /** True if this request works under a claim that it has committed, so that a refusal of it is the result. */
  inPieces?: boolean
}

export interface Context {
  app: App
  principal: Principal
  limits: PlanLimits
  features: PlanFeatures
  requestId: string
  idempotency: Idempotency | null
  /** Limits on what the running operation may read and return. */
  budget?: Budget
  /** The HTTP response, so that its memory stays reserved until it is sent. */
  response?: Sending
}
