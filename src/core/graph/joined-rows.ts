// Pothos plugin for rows that were read together with their relations: the field of such a relation returns the joined row without a loader.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'

/** Marks a row whose relations are its own properties. */
export const joined = Symbol('joined')

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      joinedRows: JoinedRowsPlugin<Types>
    }
  }
}

class JoinedRowsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { name, graphqlKind, type }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (graphqlKind !== 'Object' || type.kind !== 'Object') return resolve
    return (parent, args, context, info) => {
      const row = parent as Record<string | symbol, unknown> | undefined
      return row?.[joined] && name in row ? row[name] : resolve(parent, args, context, info)
    }
  }
}

export const joinedRows = 'joinedRows'
SchemaBuilder.registerPlugin(joinedRows, JoinedRowsPlugin)
