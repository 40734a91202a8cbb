// Proves that every list of the GraphQL schema has a bound, and that the cost of an operation counts it.
import { type GraphQLField, getNamedType, getNullableType, isListType, isObjectType, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { plans } from '../../src/billing/plans.ts'
import { type Bound, costOf } from '../../src/core/graph/cost.ts'
import { schema } from '../../src/schema.ts'

const objects = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.name.startsWith('__'))
const fields = objects.flatMap((type) =>
  Object.values(isObjectType(type) ? type.getFields() : {}).map((field) => ({ name: `${type.name}.${field.name}`, field })),
)
const isConnection = ({ type }: Pick<GraphQLField<unknown, unknown>, 'type'>) => getNamedType(type).name.endsWith('Connection')
const boundsOf = (name: string) => fields.find((one) => one.name === name)?.field.extensions as Bound

const lists = fields.filter(({ field }) => isListType(getNullableType(field.type)))
/** The lists of a page are bounded by the connection. */
const plain = lists.filter(({ name, field }) => !/Connection\./.test(name) || !['edges', 'nodes'].includes(field.name))

function complexityOf(query: string, variableValues = {}): number | undefined {
  return costOf({ schema, document: parse(query), variableValues })?.complexity
}

describe('every list', () => {
  it('without pages declares its maximum length', () => {
    const boundless = plain.filter(({ field }) => !((field.extensions as Bound).items ?? 0))
    expect(boundless.map(({ name }) => name)).toEqual([])
    expect(plain.length).toBeGreaterThan(20)
  })

  it('with pages declares the size of a page', () => {
    const connections = fields.filter(({ field }) => isConnection(field))
    expect(connections.filter(({ field }) => !(field.extensions as Bound).page).map(({ name }) => name)).toEqual([])
    expect(connections.length).toBeGreaterThan(10)
  })

  it('that a plan limits allows as many items as the largest plan', () => {
    const most = (of: (plan: (typeof plans)[number]) => number) => Math.max(...plans.map(of))
    expect(boundsOf('Query.instances').items).toBeGreaterThanOrEqual(most(({ limits }) => limits.maxInstances))
    expect(boundsOf('Query.webhooks').items).toBeGreaterThanOrEqual(most(({ limits }) => limits.maxWebhookEndpoints))
    expect(boundsOf('Query.apiKeys').items).toBeGreaterThanOrEqual(most(({ limits }) => limits.maxApiKeys))
    expect(boundsOf('Team.apiKeys').items).toBeGreaterThanOrEqual(most(({ limits }) => limits.maxApiKeys))
    expect(boundsOf('Team.members').items).toBeGreaterThanOrEqual(most(({ teams }) => teams.seatsPerTeam))
    const groups = plans.map(({ limits }) => limits.maxContactGroups ?? 0)
    expect(boundsOf('Contact.groups').items).toBeGreaterThanOrEqual(Math.max(...groups))
  })
})

describe('the cost', () => {
  it('counts the default page size of a field when none is given', () => {
    expect(complexityOf('{ messages { nodes { id } } }')).toBe(1 + 20 * (1 + 1))
    expect(complexityOf('{ contacts { nodes { id } } }')).toBe(1 + 50 * (1 + 1))
    const members = (args: string) => complexityOf(`{ contactGroup(id: "x") { members${args} { nodes { id } } } }`)
    expect(members('')).toBe(1 + 1 + 50 * (1 + 1))
    expect(members('(first: null)')).toBe(members(''))
    expect(members('(first: 7)')).toBe(1 + 1 + 7 * (1 + 1))
    expect(members('(last: 7)')).toBe(members('(first: 7)'))
    expect(members('(first: 1000000)')).toBe(members('(first: 100)'))
  })

  it('counts the items of plain lists, including lists of scalars', () => {
    expect(complexityOf('{ templates { id } }')).toBe(1 + 1_000)
    expect(complexityOf('{ instances { id } }')).toBe(1 + 20)
    expect(complexityOf('{ contact(id: "x") { tags } }')).toBe(1 + 50)
    const groups = (args: string) => complexityOf(`{ contact(id: "x") { groups${args} { id } } }`)
    expect([groups(''), groups('(first: 3)')]).toEqual([1 + 1 + 50, 1 + 1 + 3])
  })

  it('counts a live event once for each event of a full batch', () => {
    expect(complexityOf('subscription { events { id } }')).toBe(1 + 100)
  })

  it('of many widgets on one page is allowed', () => {
    const page = `{
      messages(first: 100) { nodes { id to body status type createdAt contact { id name } instance { id name } campaign { id name } } }
      contacts(first: 100) { nodes { id name phone email tags groups { id name } } }
      contactGroups(first: 100) { nodes { id name membersCount } }
      campaigns(first: 100) { nodes { id name status stats { progressPercent stats { total sent delivered read failed } } } }
      events(first: 100) { nodes { id type createdAt payload } }
      templates { id name type body } webhooks { id url events deliveries(first: 20) { nodes { id status attempts } } }
      instances { id name status state { status } health { safetyScore recommendations } } usage { messagesCount } plans { code } }`
    expect(complexityOf(page)).toBeLessThan(40_000)
  })
})
