// Finds records of a workspace by what a person pastes or types: an id, a number, an id of the network, a name. Each domain declares how its
// records are found; `defineFind` makes the field of the graph from all of them.
import type { ObjectRef } from '@pothos/core'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { parse, text, uuid } from '../validation.ts'
import { builder } from './builder.ts'
import { literalInLike } from './list.sql.ts'

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never

/** Most records that a search returns. */
const mostFound = 10

/** The search of a caller. Exactly one of `id` and `name` is set. */
export interface Sought {
  id: string | null
  /** The text as an E.164 number, if it can be one. */
  phone: string | null
  /** The text, without white space around it. */
  name: string | null
}

interface Finder<Shape extends object> {
  type: ObjectRef<Types, Shape>
  /** Records of the caller's workspace, the best first. It reads by indexes only, and few rows. */
  find: (ctx: Context, sought: Sought) => Promise<readonly Shape[]>
}

/** The condition on a column that it contains a text, in any case. Prisma Client hands the text to LIKE as it is. */
export function containing(part: string | null) {
  return { contains: literalInLike(part ?? ''), mode: 'insensitive' } as const
}

const finders: Finder<object>[] = []
const typeOf = new WeakMap<object, string>()

/** Declares how records of a type are found. The order of the declarations is that of the results. */
export function defineFinder<Shape extends object>(finder: Finder<Shape>): void {
  finders.push(finder as Finder<object>)
}

const query = z.object({ text: text(1, 255).refine((value) => value.trim() !== '', 'must not be blank') })

/** Numbers as people write them: with a `+` or `00`, or without both, and with separators. */
const numberForm = /^(?:\+|00)?(\d{8,15})$/

/** @throws VALIDATION_ERROR when the text is blank or longer than 255 characters. */
export function soughtIn(given: string): Sought {
  const name = parse(query, { text: given }).text.trim()
  const id = uuid.safeParse(name)
  if (id.success) return { id: id.data, phone: null, name: null }
  const digits = numberForm.exec(name.replace(/[\s().-]/g, ''))?.[1]
  return { id: null, phone: digits ? `+${digits}` : null, name }
}

/** Adds the query `find` with the finders that are declared. */
export function defineFind(): void {
  const FoundRef = builder.unionType('Found', {
    description: 'A record that `find` found.',
    types: finders.map(({ type }) => type),
    resolveType: (value) => typeOf.get(value as object) as never,
  })
  builder.queryField('find', (t) =>
    t.field({
      type: [FoundRef],
      extensions: { items: mostFound },
      description: `Finds records of the workspace: by an id; by a number, in any notation with the country code; by a message's \`providerMessageId\`; by a part of a name or of a number, from 3 characters on. At most ${mostFound}, the best of each type first.`,
      args: { text: t.arg.string({ required: true, description: 'The text to find, 1 to 255 characters.' }) },
      resolve: async (_, args, ctx) => {
        const sought = soughtIn(args.text)
        const found = await Promise.all(
          finders.map(async ({ type, find }) => {
            const rows = await find(ctx, sought)
            for (const row of rows) typeOf.set(row, type.name)
            return rows
          }),
        )
        return inTurn(found).slice(0, mostFound)
      },
    }),
  )
}

/** The first of each list, then the second of each, and so on: no type takes all places. */
export function inTurn<Row>(lists: readonly (readonly Row[])[]): Row[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
}
