// What one operation may read and answer: counted while it runs, so that one that was estimated too low ends before it does harm.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { GraphQLError } from 'graphql'
import pg from 'pg'
import { failure } from '../errors.ts'

export interface BudgetLimits {
  /** Fields of the answer, and the items of its lists of plain values. */
  items: number
  /** UTF-8 bytes of the texts and JSON values of the answer. */
  answerBytes: number
  /** Characters of the rows that are read for it, each cell counting as {@link cellUnits} more. */
  readUnits: number
}

/** What a cell takes in memory besides its text. */
const cellUnits = 64

const mebi = 1024 * 1024

/** Of an answer that is made in one piece of work. */
export const wholeBudget: BudgetLimits = { items: 50_000, answerBytes: 8 * mebi, readUnits: 6 * mebi }
/** Of an answer that is made and sent in pieces; see core/answer.ts. */
export const piecesBudget: BudgetLimits = { ...wholeBudget, answerBytes: 24 * mebi }
/** Of a row of REST: there is room for the largest of its pages, and its plain lists have none. */
export const restBudget: BudgetLimits = { ...piecesBudget, items: 100_000, readUnits: 12 * mebi }

/** What an operation has used. The first limit that it passes ends it: from then on each of these throws. */
export class Budget {
  /** Why the operation is over, once it is. */
  spent: GraphQLError | undefined
  readonly #limits: BudgetLimits
  #items = 0
  #answerBytes = 0
  #readUnits = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  get answerBytes(): number {
    return this.#answerBytes
  }

  /** @throws VALIDATION_ERROR where that is more than the answer may hold. */
  addItems(count: number): void {
    this.#items += count
    if (this.#items > this.#limits.items) this.#end(`The answer holds more than ${this.#limits.items} items`)
  }

  /** @throws as {@link addItems}. */
  addBytes(bytes: number): void {
    this.#answerBytes += bytes
    if (this.#answerBytes > this.#limits.answerBytes) {
      this.#end(`The answer holds more than ${this.#limits.answerBytes / mebi} MiB`)
    }
  }

  /** @throws VALIDATION_ERROR where the rows are more than may be read for one answer. */
  addCell(units: number): void {
    this.#readUnits += units + cellUnits
    if (this.#readUnits > this.#limits.readUnits) {
      this.#end(`The answer takes more than ${this.#limits.readUnits / mebi} MiB of data to make`)
    }
  }

  #end(message: string): never {
    this.spent ??= failure('VALIDATION_ERROR', `${message}; ask for less at a time`)
    throw this.spent
  }
}

const running = new AsyncLocalStorage<Budget>()

/** Runs `work` so that the rows it reads from the database count against the budget. */
export function withBudget<T>(budget: Budget, work: () => T): T {
  return running.run(budget, work)
}

/** Runs `work`, which is for many callers, on nobody's budget. */
export function withoutBudget<T>(work: () => T): T {
  return running.exit(work)
}

/** The budget of the operation that runs here, if one does. */
export function runningBudget(): Budget | undefined {
  return running.getStore()
}

/** A query whose rows count against a budget. Where that is spent it fails, and `stop` is called. */
export function metered<Query extends pg.QueryConfig>(query: Query, budget: Budget, stop?: () => void): Query {
  const own = query.types ?? pg.types
  const getTypeParser = (oid: number, format?: string) => {
    const parse = own.getTypeParser(oid, format as 'text')
    return (cell: string) => {
      try {
        budget.addCell(cell.length)
      } catch (error) {
        stop?.()
        throw error
      }
      return parse(cell)
    }
  }
  return { ...query, types: { getTypeParser } as pg.CustomTypesConfig }
}
