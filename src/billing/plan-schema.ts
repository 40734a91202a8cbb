// GraphQL types of the plans.

import { builder } from '../core/graph/builder.ts'
import type { PlanFeatures, PlanLimits } from '../core/principal.ts'
import type { Plan } from './plans.ts'

const PlanLimitsRef = builder.objectRef<PlanLimits>('PlanLimits').implement({
  description: 'The numbers of a plan.',
  fields: (t) => ({
    maxInstances: t.exposeInt('maxInstances', { description: 'Instances at once.' }),
    maxApiKeys: t.exposeInt('maxApiKeys', { description: 'API keys at once.' }),
    maxWebhookEndpoints: t.exposeInt('maxWebhookEndpoints', { description: 'Webhook endpoints at once.' }),
    monthlyOutboundQuota: t.exposeInt('monthlyOutboundQuota', {
      description: 'Messages and statuses in a calendar month (UTC).',
    }),
    monthlyApiRequestQuota: t.exposeInt('monthlyApiRequestQuota', { description: 'API requests in a calendar month (UTC).' }),
    maxContactGroups: t.exposeInt('maxContactGroups', {
      nullable: true,
      description: 'Contact groups at once; null is unlimited.',
    }),
    maxMediaBytes: t.exposeFloat('maxMediaBytes', { description: 'Bytes of uploaded files, in all of its workspaces together.' }),
  }),
})

const PlanFeaturesRef = builder.objectRef<PlanFeatures>('PlanFeatures').implement({
  description: 'What a plan includes.',
  fields: (t) => ({
    campaigns: t.exposeBoolean('campaigns', { description: 'Campaigns.' }),
    statuses: t.exposeBoolean('statuses', { description: 'Publishing statuses; on no plan.' }),
    voiceNotes: t.exposeBoolean('voiceNotes', { description: 'Voice notes.' }),
    webhooks: t.exposeBoolean('webhooks', { description: 'Webhook endpoints.' }),
    numberLookups: t.exposeBoolean('numberLookups', { description: 'Number look-ups.' }),
  }),
})

const PlanTeamsRef = builder.objectRef<Plan['teams']>('PlanTeams').implement({
  description: 'The teams a plan allows.',
  fields: (t) => ({
    maxOwned: t.exposeInt('maxOwned', { description: 'Teams owned.' }),
    seatsPerTeam: t.exposeInt('seatsPerTeam', { description: 'Members of each, the owner included.' }),
  }),
})

export const PlanRef = builder.objectRef<Plan>('Plan').implement({
  description: 'A plan of the catalogue.',
  fields: (t) => ({
    code: t.exposeString('code', { description: '`free`, `pro` or `max`.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    monthlyPrice: t.exposeInt('monthlyPrice', { description: 'Price of a month, in whole units of the currency.' }),
    currency: t.exposeString('currency', { description: 'Always EUR.' }),
    limits: t.expose('limits', { type: PlanLimitsRef, description: 'Its numbers.' }),
    features: t.expose('features', { type: PlanFeaturesRef, description: 'What it includes.' }),
    teams: t.expose('teams', { type: PlanTeamsRef, description: 'The teams it allows.' }),
  }),
})
