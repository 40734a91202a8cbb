// Budget of one operation: counts what it reads and returns while it runs, so that an operation whose cost was estimated too low
// ends early.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { GraphQLError } from 'graphql'
import pg from 'pg'
import { failure } from '../errors.ts'

export interface BudgetLimits {
  /** Fields of the answer, and the items of its lists of plain values. */
  items: number
  /** UTF-8 bytes of the names and values of the answer. */
  answerBytes: number
  /** Characters of the rows that are read for it; each cell counts {@link cellUnits} more. */
  readUnits: number
}

/** Memory that a cell takes besides its text. */
const cellUnits = 64

const mebi = 1024 * 1024

/** For an answer that is serialized in one piece. */
export const wholeBudget: BudgetLimits = { items: 50_000, answerBytes: 8 * mebi, readUnits: 6 * mebi }
/** For an answer that is serialized and sent in pieces; see core/graph/answer.ts. */
export const piecesBudget: BudgetLimits = { ...wholeBudget, answerBytes: 24 * mebi }
/** For a REST route: the largest of its pages fits, and its plain lists have no pages. */
export const restBudget: BudgetLimits = { ...piecesBudget, items: 100_000, readUnits: 12 * mebi }

/** Usage of one operation. The first limit that it exceeds ends the operation. */
export class Budget {
  /** The error that ended the operation; undefined while it may go on. */
  spent: GraphQLError | undefined
  /** The account that pays for the operation. The reads of one payer share few connections to the database. */
  readonly payer: string
  readonly #limits: BudgetLimits
  #items = 0
  #answerBytes = 0
  #readUnits = 0

  constructor(limits: BudgetLimits, payer: string) {
    this.#limits = limits
    this.payer = payer
  }

  get answerBytes(): number {
    return this.#answerBytes
  }

  /** @throws VALIDATION_ERROR when the answer holds more items than allowed. */
  addItems(count: number): void {
    this.#items += count
    if (this.#items > this.#limits.items) this.#end(`The response has more than ${this.#limits.items} items`)
  }

  /**
   * Counts the names and values of a complete answer. Its strings are those of the rows that were read, so that they take memory of
   * their own only when the answer is sent. @throws VALIDATION_ERROR when the answer holds more bytes than allowed.
   */
  addAnswer(data: unknown): void {
    if (typeof data === 'string') this.#answerBytes += bytesOfText(data)
    else if (typeof data === 'object' && data !== null) {
      if (Array.isArray(data)) for (const item of data) this.addAnswer(item)
      else {
        for (const name in data) {
          this.#answerBytes += name.length
          this.addAnswer((data as Record<string, unknown>)[name])
        }
      }
    } else this.#answerBytes += 4
    if (this.#answerBytes > this.#limits.answerBytes) {
      this.#end(`The response is larger than ${this.#limits.answerBytes / mebi} MiB`)
    }
  }

  /** @throws VALIDATION_ERROR when more data is read than one answer may need. */
  addCell(units: number): void {
    this.#readUnits += units + cellUnits
    if (this.#readUnits > this.#limits.readUnits) {
      this.#end(`The response needs more than ${this.#limits.readUnits / mebi} MiB of data`)
    }
  }

  #end(message: string): never {
    this.spent ??= failure('VALIDATION_ERROR', `${message}; request less at a time`)
    throw this.spent
  }
}

/** For short texts, which are most, the length is a sufficient approximation. */
function bytesOfText(text: string): number {
  return text.length < 64 ? text.length : Buffer.byteLength(text)
}

const running = new AsyncLocalStorage<Budget>()

/** Runs `work` so that the rows it reads from the database count against the budget. */
export function withBudget<T>(budget: Budget, work: () => T): T {
  return running.run(budget, work)
}

/** Runs `work` without a budget, because it serves many callers (batching). */
export function withoutBudget<T>(work: () => T): T {
  return running.exit(work)
}

/** Returns the budget of the operation that runs in this async context, if any. */
export function runningBudget(): Budget | undefined {
  return running.getStore()
}

/** Returns a query whose rows count against a budget. When the budget is spent, the query fails and `stop` is called. */
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
