// Pothos plugin: applies the default page size of each field, and counts the fields of an answer against the budget of its operation
// while they are resolved. Plain fields are counted with the object that they belong to, so that they need no resolver of their own; the
// bytes of their values are measured when the answer is complete.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { FieldNode, GraphQLFieldResolver, GraphQLResolveInfo, SelectionSetNode } from 'graphql'
import type { Budget } from './budget.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      itemBudget: ItemBudgetPlugin<Types>
    }
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>

class ItemBudgetPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolve: Resolver<Types>, { type, extensions }: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const { page } = (extensions ?? {}) as { page?: number }
    const paged: Resolver<Types> = page
      ? (parent, args, context, info) => resolve(parent, withPage(args, page), context, info)
      : resolve
    const { kind } = type.kind === 'List' ? type.type : type
    const isPlain = kind === 'Scalar' || kind === 'Enum'
    if (isPlain && type.kind !== 'List') return paged
    const count = isPlain ? countValues : countObjects
    return (parent, args, context, info) => {
      const value = paged(parent, args, context, info)
      const { budget } = context as { budget?: Budget }
      if (!budget) return value
      if (!(value instanceof Promise)) return count(budget, value, info)
      return value.then((known: unknown) => count(budget, known, info))
    }
  }
}

function withPage(args: object, page: number): object {
  const { first, last } = args as { first?: number | null; last?: number | null }
  return first == null && last == null ? { ...args, first: page } : args
}

function countValues(budget: Budget, value: unknown): unknown {
  budget.addItems(Array.isArray(value) ? value.length : 1)
  return value
}

/** Counts the field, and the plain fields of the objects that it returned. */
function countObjects(budget: Budget, value: unknown, info: GraphQLResolveInfo): unknown {
  const objects = Array.isArray(value) ? value.length : value == null ? 0 : 1
  let fields = 0
  for (const node of info.fieldNodes) fields += plainFieldsOf(node, info)
  budget.addItems(1 + objects * fields)
  return value
}

const counted = new WeakMap<FieldNode, number>()

/** The number of plain fields directly below a field, fragments included. */
function plainFieldsOf(node: FieldNode, { fragments }: GraphQLResolveInfo): number {
  const known = counted.get(node)
  if (known !== undefined) return known
  const count = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, selection) => {
      if (selection.kind === 'InlineFragment') return sum + count(selection.selectionSet)
      if (selection.kind === 'FragmentSpread') return sum + count(fragments[selection.name.value]?.selectionSet)
      return sum + (selection.selectionSet || selection.name.value === '__typename' ? 0 : 1)
    }, 0)
  const fields = count(node.selectionSet)
  counted.set(node, fields)
  return fields
}

export const itemBudget = 'itemBudget'
SchemaBuilder.registerPlugin(itemBudget, ItemBudgetPlugin)
