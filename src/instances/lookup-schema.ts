// GraphQL schema of number lookups: type, input and mutation.
import { builder } from '../core/graph/builder.ts'
import { defineInput } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { lookupFields, lookupNumbers, type NumberLookup } from './lookup.ts'

const NumberLookupRef = builder.objectRef<NumberLookup>('NumberLookup').implement({
  description: 'Whether a number is on the network.',
  fields: (t) => ({
    phone: t.exposeString('phone', { description: 'The number, E.164, as it was asked for.' }),
    exists: t.exposeBoolean('exists', {
      nullable: true,
      description: 'Whether it is on the network; null where the provider cannot tell.',
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When the provider said so.' }),
  }),
})

const LookupNumbersInput = defineInput('LookupNumbersInput', 'Numbers to look up.', lookupFields)

builder.mutationField('lookupNumbers', (t) =>
  t.field({
    type: [NumberLookupRef],
    extensions: { items: 100 },
    description: 'Asks the network of an instance which numbers are on it: one answer for each, in their order.',
    errors: ['NOT_FOUND', { INVALID_STATE: '(not connected)' }, 'PROVIDER_ERROR'],
    args: { input: t.arg({ type: LookupNumbersInput.ref, required: true, description: 'Which numbers, and through what.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'lookupNumbers', input)
      return lookupNumbers(once, LookupNumbersInput.parse(ctx.app.config, input))
    },
  }),
)
