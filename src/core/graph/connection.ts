// The connection type of a node: one for each type that lists hold, so that clients share fragments between lists.
import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never

/**
 * Makes `NodeConnection`, for the second argument of `t.connection`, and `NodeEdge`. `former` names the connections that the lists of this
 * node had before, each with an edge of its own. They stay as interfaces of the shared types, so that fragments on their names remain
 * valid. GraphQL cannot deprecate a type, so their fields are deprecated.
 */
export function connectionOf<Shape>(node: ObjectRef<Types, Shape>, former: readonly string[] = []) {
  const name = `${node.name}Connection`
  const edgeName = `${node.name}Edge`
  const formerEdges = former.map((one) =>
    builder.interfaceRef(`${one}Edge`).implement({
      description: `The former name of \`${edgeName}\`.`,
      fields: (t) => ({
        cursor: t.string({ description: 'Its place in the list.', ...moved(edgeName) }),
        node: t.field({ type: node, description: 'The item.', ...moved(edgeName) }),
      }),
    }),
  )
  const edge = builder.edgeObject({ name: edgeName, type: node, interfaces: formerEdges })
  const connection = builder.connectionObject(
    {
      name,
      type: node,
      interfaces: former.map((one) =>
        builder.interfaceRef(one).implement({
          description: `The former name of \`${name}\`.`,
          fields: (t) => ({
            edges: t.field({ type: [edge], description: 'The items with their cursors.', ...moved(name) }),
            nodes: t.field({ type: [node], description: 'The items without their cursors.', ...moved(name) }),
            pageInfo: t.field({ type: builder.pageInfoRef(), description: 'The place of the page.', ...moved(name) }),
            totalCount: t.int({ nullable: true, description: 'The number of all items.', ...moved(name) }),
          }),
        }),
      ),
    },
    edge,
  )
  return { connection, edge, formerEdges }
}

/** Options of a deprecated field. */
export function moved(to: string) {
  return { deprecationReason: `Use \`${to}\`.` }
}
