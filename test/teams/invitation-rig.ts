// Rig of the invitation tests: one function that accepts an invitation over REST or GraphQL.
import type { Ask } from './rig.ts'

/** Returns a function that accepts an invitation, by its token, for a person. */
export const acceptOver = (ask: Ask) => (who: Parameters<Ask>[0], token: unknown) =>
  ask(who, 'POST /teams/invitations/accept', [], { token })
