// Pothos plugin: counts the answer of an operation against its budget, field by field, and applies the default page size of each field.
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
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
    if (kind !== 'Scalar' && kind !== 'Enum') {
      return (parent, args, context, info) => {
        ;(context as { budget?: Budget }).budget?.addItems(1)
        return paged(parent, args, context, info)
      }
    }
    return (parent, args, context, info) => {
      const { budget } = context as { budget?: Budget }
      if (!budget) return paged(parent, args, context, info)
      budget.addItems(1)
      const value = paged(parent, args, context, info)
      if (typeof value === 'string') {
        budget.addBytes(bytesOfText(value))
        return value
      }
      if (value instanceof Promise) {
        return value.then((known) => {
          count(budget, known)
          return known
        })
      }
      count(budget, value)
      return value
    }
  }
}

function withPage(args: object, page: number): object {
  const { first, last } = args as { first?: number | null; last?: number | null }
  return first == null && last == null ? { ...args, first: page } : args
}

function count(budget: Budget, value: unknown): void {
  if (Array.isArray(value)) budget.addItems(value.length)
  addValue(budget, value)
}

/** Adds the size of a JSON value. @throws VALIDATION_ERROR when the budget is spent. */
function addValue(budget: Budget, value: unknown): void {
  if (typeof value === 'string') budget.addBytes(bytesOfText(value))
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      budget.addBytes(name.length)
      addValue(budget, item)
    }
  } else budget.addBytes(4)
}

/** For short texts, which are most, the length is a sufficient approximation. */
function bytesOfText(text: string): number {
  return text.length < 64 ? text.length : Buffer.byteLength(text)
}

export const itemBudget = 'itemBudget'
SchemaBuilder.registerPlugin(itemBudget, ItemBudgetPlugin)
