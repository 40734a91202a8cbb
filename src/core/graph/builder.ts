// GraphQL schema builder: plugins and scalars, without the types of any domain.
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { GraphQLScalarType, valueFromASTUntyped } from 'graphql'
import type PrismaTypes from '../../generated/pothos.ts'
import { getDatamodel } from '../../generated/pothos.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { refuseShapes } from '../http/json.ts'
import type { Principal } from '../principal.ts'
import { fieldCost } from './cost.ts'
import { fieldErrors } from './field-errors.ts'
import { itemBudget } from './item-budget.ts'
import { joinedRows } from './joined-rows.ts'
import { maxPageSize } from './pagination.ts'

export const builder = new SchemaBuilder<{
  Context: Context
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  AuthScopes: { active: boolean; personal: boolean; person: boolean; payer: boolean }
  Scalars: {
    DateTime: { Input: string; Output: Date }
    JSON: { Input: unknown; Output: unknown }
    ID: { Input: string; Output: string }
  }
  Connection: { totalCount?: () => Promise<number> | number }
}>({
  plugins: [itemBudget, fieldErrors, ScopeAuthPlugin, RelayPlugin, joinedRows, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  prisma: { client: (ctx) => ctx.app.db, dmmf: getDatamodel(), exposeDescriptions: false, maxConnectionSize: maxPageSize },
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    nodesOnConnection: { description: 'The items without their cursors.' },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'The place of a page in its list.' },
    hasNextPageFieldOptions: { description: 'True if there is another page.' },
    hasPreviousPageFieldOptions: { description: 'True if there is a previous page.' },
    startCursorFieldOptions: { description: 'The cursor of the first item; null on an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last item, for `after`; null on an empty page.' },
    defaultConnectionTypeOptions: { description: 'A page of a list.' },
    edgesFieldOptions: { description: 'The items with their cursors.' },
    pageInfoFieldOptions: { description: 'The place of the page.' },
    defaultEdgeTypeOptions: { description: 'An item and its cursor.' },
    cursorFieldOptions: { description: 'Its place in the list, for this sort order and these filters.' },
    nodeFieldOptions: { description: 'The item.' },
    firstArgOptions: { description: 'The number of items from the start, 1 to 100.' },
    afterArgOptions: { description: 'Only items after this cursor.' },
    lastArgOptions: { description: 'The number of items from the end, 1 to 100; not together with `first`.' },
    beforeArgOptions: { description: 'Only items before this cursor.' },
  },
  scopeAuth: {
    // A scope that does not hold throws its own error, with a code of the API.
    treatErrorsAsUnauthorized: false,
    authScopes: ({ principal }) => ({
      active: () => principal.active || fail('SUBSCRIPTION_INACTIVE'),
      personal: () => principal.kind !== 'team' || fail('TEAM_KEY_NOT_ALLOWED'),
      person: () => isPerson(principal),
      // The same check as `person`, for fields about the workspace that the header names, whose owner pays.
      payer: () => isPerson(principal),
    }),
  },
  // Complexity is only declared here; src/http/graphql-limits.ts decides before execution what an operation may cost.
  complexity: { disabled: true, fieldComplexity: fieldCost },
})

/** @throws FORBIDDEN when the caller uses an API key. */
function isPerson({ kind }: Principal): true {
  return kind === 'console' || fail('FORBIDDEN', 'This requires a signed-in user, not an API key')
}

builder.queryType({ description: 'Reads. Each field returns data of the workspace of the credential.' })
builder.mutationType({ description: 'Changes. The result of a mutation is committed before it is returned.' })
builder.subscriptionType({ description: 'Live data over server-sent events.' })

builder.addScalarType(
  'DateTime',
  new GraphQLScalarType<string, string>({
    name: 'DateTime',
    description: 'A date and time: ISO 8601, UTC, with milliseconds. Input may have any offset.',
    serialize: (value) => (value as Date).toISOString(),
    parseValue: (value) => {
      // Returns the text itself, so that the operation's own validation refuses an invalid date by the field's name.
      if (typeof value !== 'string') throw new TypeError('must be an ISO 8601 date and time')
      return value
    },
  }),
)
builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  // parseJson has checked the variables.
  parseValue: (value) => value,
  parseLiteral: (node, variables) => {
    const value = valueFromASTUntyped(node, variables)
    refuseShapes(value, 'JSON')
    return value
  },
})

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    nullable: true,
    description: 'The number of all items; null if counting them would cost more than the page.',
    resolve: (connection) => connection.totalCount?.() ?? null,
  }),
)
