// GraphQL type of the quota after messages that are not sent yet.
import { builder } from '../core/graph/builder.ts'
import type { QuotaAfter } from './admission/quota-preview.ts'

export const QuotaPreviewRef = builder.objectRef<QuotaAfter>('QuotaPreview').implement({
  description: 'The quota of messages in the present billing period, before and after those of a preview.',
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: 'What the plan allows in a period.' }),
    left: t.exposeInt('left', { description: 'What is left of it now.' }),
    leftAfter: t.exposeInt('leftAfter', { description: 'What would be left afterwards, at least 0.' }),
    missing: t.exposeInt('missing', { description: 'How many of the messages it is too small for.' }),
  }),
})
