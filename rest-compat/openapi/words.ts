// What a document says before and between its routes: the rules of every request, and the families in their order.
import type { Surface } from '../route.ts'

const repeating = `
**Repeating.** Give a POST an \`Idempotency-Key\` and repeat it as often as you must: within 72 hours the same request is answered as
the first time, with \`Idempotency-Replayed: true\`, and does nothing twice. Answers of 5xx and 429 are not kept.
`.trim()

const pages = `
**Pages.** Lists that page take \`limit\` and \`cursor\` and answer \`nextCursor\` and \`hasMore\`. A cursor belongs to its sort and filters.
`.trim()

export const introductions: Record<Surface, string> = {
  public: `
Every route answers \`{ "data": … }\`, or \`{ "error": { "code", "message" } }\` with the HTTP status of the code.

**Keys.** Send yours as \`x-api-key\`. A team's key goes with \`X-Team-Id\`.

${repeating}

${pages}

**Limits.** \`RateLimit-*\` say how a key stands in this second; after a 429, wait for \`Retry-After\`.

**Live.** Follow \`GET /events/stream\`, or let webhooks receive the same events. The whole graph is at \`/graphql\`, with the same keys.
`.trim(),
  console: `
For people who are signed in: the families, paths and records that \`/api/v1\` has for keys, and what people alone do. Every route answers
\`{ "data": … }\`, or \`{ "error": { "code", "message" } }\` with the HTTP status of the code.

**Tokens.** \`POST /auth/login\` answers an access token and sets the session's cookie. Send the token as \`Authorization: Bearer\`; it holds
for ten minutes, and \`POST /auth/token\` gives the next one for the cookie. A session that ends takes its tokens along at once.

**Teams.** With \`X-Team-Id\` a request is about the workspace of that team, in your role there; without it about your own. What is about
yourself, or names a team in its path, does not look at the header. To whoever is not in it a team is \`TEAM_NOT_FOUND\`.

${repeating} The routes below \`/auth\` take none.

${pages}

**Limits.** One person makes at most 50 requests in any second, over all sessions. After a 429, wait for \`Retry-After\`.

**Live.** Follow \`GET /events/stream\`. The whole graph is at \`/graphql\`, with the same tokens.
`.trim(),
}

interface Family {
  start: string
  name: string
  /** Empty for what comes under a name that another has described. */
  description: string
}

const family = (start: string, name: string, description = ''): Family => ({ start, name, description })

const ofBoth = [
  family('/messages', 'Messages', 'Send now or later, cancel, and see what became of each.'),
  family('/instances', 'Instances', 'The connected phone accounts that messages go through.'),
  family('/contacts', 'Contacts', 'Whom the workspace writes to.'),
  family('/contacts/groups', 'Contact groups', 'Contacts under one name.'),
  family('/contacts/bulk-jobs', 'Bulk jobs', 'What is done to 100 contacts or more, in the background.'),
  family('/templates', 'Templates', 'Texts with placeholders, kept to be sent again.'),
  family('/campaigns', 'Campaigns', 'One message to many recipients.'),
  family('/webhooks', 'Webhooks', 'Addresses of yours that receive events, and what was delivered to them.'),
  family('/events', 'Events', 'What happens, as it happens.'),
  family('/number-lookups', 'Number look-ups', 'Whether numbers are on the network.'),
  family('/media', 'Media', 'Files for messages, kept here.'),
]
const atTheEnd = [
  family('/statuses', 'Statuses', 'On no plan.'),
  family('/openapi.json', 'This document', 'What you are reading.'),
]

const families: Record<Surface, readonly Family[]> = {
  public: [
    ...ofBoth,
    family('/me', 'Account', 'The account behind the key, its plan and its usage. Personal keys only, but for the plans.'),
    family('/usage', 'Account'),
    family('/billing', 'Account'),
    ...atTheEnd,
  ],
  console: [
    family('/auth', 'Sign-in', 'Accounts and how to get into them: signing up, access tokens, passwords, identity providers.'),
    family('/auth/sessions', 'Sessions', 'Where you are signed in.'),
    ...ofBoth,
    family('/me', 'Account', 'Who you are, and what was used.'),
    family('/usage', 'Account'),
    family('/api-keys', 'API keys', 'What programs of yours show to be let in at `/api/v1`.'),
    family('/teams', 'Teams', 'Workspaces that several people use, each in a role.'),
    family('/teams/:teamId/members', 'Team members', 'Who is in a team.'),
    family('/teams/:teamId/invitations', 'Team invitations', 'Who may join a team, by a mail.'),
    family('/teams/invitations', 'Team invitations'),
    family('/teams/:teamId/api-keys', 'Team API keys', "What programs show to be let into a team's workspace."),
    family('/billing', 'Billing', 'Your plan, what it costs and what was used of it; of a team, where the header names one.'),
    family('/teams/:teamId/billing', 'Team billing', "The same of the team in the path: its owner's plan."),
    ...atTheEnd,
  ],
}

interface Tag {
  name: string
  description: string
}

/** The families of a surface's routes, in the order of its document. */
export function tagsOf(surface: Surface): Tag[] {
  return families[surface].flatMap(({ name, description }) => (description ? [{ name, description }] : []))
}

/** The family of a path: the one with the longest beginning. @throws for a path of none. */
export function tagOf(surface: Surface, path: string): string {
  const own = families[surface].filter(({ start }) => path === start || path.startsWith(`${start}/`))
  const [found] = own.sort((a, b) => b.start.length - a.start.length)
  if (!found) throw new Error(`${path} belongs to no family of routes: enter one in rest-compat/openapi/words.ts`)
  return found.name
}
