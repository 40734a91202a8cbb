// GraphQL types of the plans.
import { builder } from '../core/graph/builder.ts'
import type { PlanFeatures, PlanLimits } from '../core/principal.ts'
import type { Plan } from './plans.ts'

const PlanLimitsRef = builder.objectRef<PlanLimits>('PlanLimits').implement({
  description: 'The limits of a plan.',
  fields: (t) => ({
    maxInstances: t.exposeInt('maxInstances', { description: 'Instances at the same time.' }),
    maxApiKeys: t.exposeInt('maxApiKeys', {
      description: 'API keys at the same time, in all workspaces of the account together.',
    }),
    maxWebhookEndpoints: t.exposeInt('maxWebhookEndpoints', { description: 'Webhook endpoints at the same time.' }),
    monthlyOutboundQuota: t.exposeInt('monthlyOutboundQuota', {
      description: 'Messages and statuses in a billing period.',
    }),
    monthlyApiRequestQuota: t.exposeInt('monthlyApiRequestQuota', { description: 'API requests in a billing period.' }),
    maxContactGroups: t.exposeInt('maxContactGroups', {
      nullable: true,
      description: 'Contact groups at the same time; null means unlimited.',
    }),
    maxMediaBytes: t.exposeFloat('maxMediaBytes', {
      description: 'Total size of the uploaded files in all workspaces of the account, in bytes.',
    }),
  }),
})

const PlanFeaturesRef = builder.objectRef<PlanFeatures>('PlanFeatures').implement({
  description: 'The features of a plan.',
  fields: (t) => ({
    campaigns: t.exposeBoolean('campaigns', { description: 'Campaigns.' }),
    statuses: t.exposeBoolean('statuses', { description: 'Publishing statuses; in no plan.' }),
    voiceNotes: t.exposeBoolean('voiceNotes', { description: 'Voice notes.' }),
    webhooks: t.exposeBoolean('webhooks', { description: 'Webhook endpoints.' }),
    numberLookups: t.exposeBoolean('numberLookups', { description: 'Number lookups.' }),
  }),
})

const PlanTeamsRef = builder.objectRef<Plan['teams']>('PlanTeams').implement({
  description: 'The team limits of a plan.',
  fields: (t) => ({
    maxOwned: t.exposeInt('maxOwned', { description: 'Teams that the account may own.' }),
    seatsPerTeam: t.exposeInt('seatsPerTeam', { description: 'Members of each team, including the owner.' }),
  }),
})

export const PlanRef = builder.objectRef<Plan>('Plan').implement({
  description: 'A plan.',
  fields: (t) => ({
    code: t.exposeString('code', { description: '`free`, `pro` or `max`.' }),
    name: t.exposeString('name', { description: 'Its display name.' }),
    monthlyPrice: t.exposeInt('monthlyPrice', { description: 'The monthly price, in whole units of the currency.' }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    limits: t.expose('limits', { type: PlanLimitsRef, description: 'Its limits.' }),
    features: t.expose('features', { type: PlanFeaturesRef, description: 'Its features.' }),
    teams: t.expose('teams', { type: PlanTeamsRef, description: 'Its team limits.' }),
  }),
})
