// GraphQL schema of number lookups: type, input and mutation.
import { builder } from '../core/graph/builder.ts'
import { defineInput } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { lookupFields, lookupNumbers, type NumberLookup } from './lookup.ts'

const NumberLookupRef = builder.objectRef<NumberLookup>('NumberLookup').implement({
  description: 'The result of a number lookup.',
  fields: (t) => ({
    phone: t.exposeString('phone', { description: 'The number, E.164.' }),
    exists: t.exposeBoolean('exists', {
      nullable: true,
      description: 'True if the number is on the network. Null if the provider cannot tell, and no message of the instance does.',
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When the provider answered.' }),
  }),
})

const LookupNumbersInput = defineInput('LookupNumbersInput', 'A number lookup.', lookupFields)

builder.mutationField('lookupNumbers', (t) =>
  t.field({
    type: [NumberLookupRef],
    extensions: { items: 100 },
    description: 'Checks which numbers are on the network of an instance. Returns one result for each number, in the same order.',
    errors: ['NOT_FOUND', { INVALID_STATE: 'if it is not connected' }, 'SUBSCRIPTION_INACTIVE', 'PROVIDER_ERROR'],
    authScopes: { active: true },
    args: { input: t.arg({ type: LookupNumbersInput.ref, required: true, description: 'The numbers and the instance.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'lookupNumbers', input)
      return lookupNumbers(once, LookupNumbersInput.parse(ctx.app.config, input))
    },
  }),
)
