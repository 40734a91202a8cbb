// A plugin of better-auth that begins a session for a person who proved it to us. It is called in process only; its route is not served.
import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'

const body = z.object({ userId: z.uuid() })

export const signInDirectly = {
  id: 'sign-in-directly',
  endpoints: {
    signInDirectly: createAuthEndpoint('/sign-in-directly', { method: 'POST', body }, async (ctx) => {
      const { internalAdapter } = ctx.context
      const user = await internalAdapter.findUserById(ctx.body.userId)
      const session = user && (await internalAdapter.createSession(user.id))
      if (!session) throw new APIError('UNAUTHORIZED', { code: 'INVALID_TOKEN', message: 'This person cannot be signed in' })
      await setSessionCookie(ctx, { session, user })
      return ctx.json({ user, session })
    }),
  },
} satisfies BetterAuthPlugin
