// Author type of the graph: the user who created something, visible to everybody who sees the thing.
import type { Context } from '../context.ts'
import { builder } from './builder.ts'
import { loadFound } from './load.ts'

export interface Author {
  id: string
  email: string
  name: string
}

export const AuthorRef = builder.objectRef<Author>('Author').implement({
  description: 'The user who created something. They may have left the team since.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The user's id." }),
    email: t.exposeString('email', { description: "The user's e-mail address." }),
    name: t.exposeString('name', { description: "The user's name." }),
  }),
})

/** Returns the user with that id, or null. One statement reads all users that a request needs (DataLoader). */
export async function authorOf(ctx: Context, userId: string | null): Promise<Author | null> {
  if (userId === null) return null
  return await loadFound(ctx, 'authors', userId, null, async (ids) => {
    const authors = await ctx.app.hooks.readAuthors(ctx.app.db, ids)
    return new Map(authors.map((author) => [author.id, author]))
  })
}
