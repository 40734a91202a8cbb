// The differences between the two OpenAPI documents: routes outside the route table, operation names, and accepted linter
// problems.
import type { OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import type { Surface } from '../../rest-compat/route.ts'

/** The properties specific to one surface. */
export interface Own {
  surface: Surface
  /** The recommendations of Redocly that the document does not follow. */
  problems: string[]
  /** Routes that are served but not in the route table. */
  others: string[]
  /** Operations with another name than in the GraphQL schema, or absent from it. */
  apart: string[]
  security: string[]
}

// These are the contract's own paths; a UUID is never `groups` or `bulk-jobs`.
const ambiguous = ['groups~1{groupId}', 'bulk-jobs~1{jobId}'].map((part) => `no-ambiguous-paths #/paths/~1contacts~1${part}`)
const refused = ['operation-2xx-response #/paths/~1statuses/post/responses']
const alwaysThere = ['operation-4xx-response #/paths/~1openapi.json/get/responses']
// These routes redirect a browser with 302.
const elsewhere = ['', '~1callback'].map((end) => `operation-2xx-response #/paths/~1auth~1oauth~1{provider}${end}/get/responses`)
const forEverybody = ['operation-4xx-response #/paths/~1auth~1jwks/get/responses']
const ofBoth = [
  'billingUsage',
  'bulkJobProgress',
  'campaignRecipients',
  'contactGroupMembers',
  'downloadMedia',
  'exportCampaignRecipients',
  'exportContacts',
  'exportMessages',
  'groupsOfContact',
  'instanceHealth',
  'openapi',
  'publishStatus',
  'streamEvents',
  'uploadMedia',
  'webhookDeliveries',
]

const authRoutes = [
  'POST /auth/signup',
  'POST /auth/verify-email',
  'POST /auth/verify-email/resend',
  'POST /auth/login',
  'POST /auth/login/link',
  'POST /auth/token',
  'POST /auth/logout',
  'POST /auth/password/forgot',
  'POST /auth/password/reset',
  'POST /auth/password/change',
  'GET /auth/sessions',
  'DELETE /auth/sessions/:id',
  'GET /auth/jwks',
  'GET /auth/oauth/:provider',
  'GET /auth/oauth/:provider/callback',
]
const identity = [
  'changePassword',
  'endSession',
  'forgotPassword',
  'leaveForProvider',
  'listSessions',
  'logIn',
  'logOut',
  'renewToken',
  'resendVerification',
  'resetPassword',
  'returnFromProvider',
  'showKeys',
  'signInByLink',
  'signUp',
  'verifyEmail',
]

export const surfaces: Own[] = [
  {
    surface: 'public',
    problems: [...ambiguous, ...refused, ...alwaysThere],
    others: ['GET /events/stream', 'GET /openapi.json'],
    apart: ofBoth,
    security: ['ApiKey'],
  },
  {
    surface: 'console',
    problems: [...ambiguous, ...refused, ...alwaysThere, ...elsewhere, ...forEverybody],
    others: [...authRoutes, 'GET /events/stream', 'GET /openapi.json'],
    apart: [
      ...ofBoth,
      ...identity,
      'teamApiKeys',
      'teamBillingCancel',
      'teamBillingCheckout',
      'teamBillingPayments',
      'teamBillingPlans',
      'teamBillingResume',
      'teamBillingSubscription',
      'teamBillingUsage',
      'teamInvitations',
      'teamMembers',
    ],
    security: ['AccessToken', 'Session'],
  },
]

export interface Told {
  at: string
  operation: OpenApiDocument['paths'][string][string]
  name: string
}

export function operationsOf(document: OpenApiDocument): Told[] {
  return Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at, operation, name: `${method.toUpperCase()} ${at}` })),
  )
}
