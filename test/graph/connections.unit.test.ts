// Proves that lists of the same node share one connection type, so that clients share fragments between them, and that the names
// of former connection types still serve.
import { GraphQLObjectType, getNamedType, isInterfaceType, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { schema } from '../../src/schema.ts'

const objects = Object.values(schema.getTypeMap()).filter((type) => type instanceof GraphQLObjectType)
const lists = objects.flatMap((type) =>
  Object.values(type.getFields()).flatMap((field) => {
    const page = getNamedType(field.type)
    const { nodes, pageInfo } = page instanceof GraphQLObjectType ? page.getFields() : {}
    return nodes && pageInfo ? [{ list: `${type.name}.${field.name}`, page: page.name, node: getNamedType(nodes.type).name }] : []
  }),
)

it('every list has the connection type of its node (make it with connectionOf)', () => {
  expect(lists.length).toBeGreaterThan(10)
  expect(lists.filter(({ page, node }) => page !== `${node}Connection`)).toEqual([])
})

const former = `QueryMessagesConnection QueryHistoryConnection CampaignMessagesConnection ContactMessagesConnection
  QueryCampaignsConnection QueryContactsConnection ContactGroupMembersConnection QueryContactGroupsConnection
  QueryBulkJobsConnection QueryEventsConnection WebhookEndpointDeliveriesConnection`.split(/\s+/)

it.each(former)('%s is a deprecated interface of the connection that replaces it, and so is its edge', (name) => {
  for (const old of [name, `${name}Edge`].map((one) => schema.getType(one))) {
    if (!isInterfaceType(old)) throw new Error(`${name} is no interface`)
    expect(schema.getPossibleTypes(old)).toHaveLength(1)
    const fields = Object.values(old.getFields())
    expect(fields.filter(({ deprecationReason }) => !deprecationReason)).toEqual([])
  }
})

it('one fragment serves all lists of a node, and fragments on the former names stay valid', () => {
  const shared = `{ messages { ...M } history(phone: "+1") { ...M } campaign(id: "1") { messages { ...M } stats { id } }
      contact(id: "1") { messages { ...M } } contacts { ...C } contactGroup(id: "1") { members { ...C } } }
    fragment M on MessageConnection { nodes { id } edges { cursor node { id } } pageInfo { endCursor } totalCount }
    fragment C on ContactConnection { edges { addedAt node { id } } }`
  expect(validate(schema, parse(shared))).toEqual([])
  const before = `{ messages { ...M } contactGroup(id: "1") { members { ...C } } }
    fragment M on QueryMessagesConnection { edges { ...E } nodes { id } totalCount pageInfo { endCursor } }
    fragment E on QueryMessagesConnectionEdge { cursor node { id } }
    fragment C on ContactGroupMembersConnection { edges { ... on ContactGroupMembersConnectionEdge { addedAt node { id } } } }`
  expect(validate(schema, parse(before))).toEqual([])
})
