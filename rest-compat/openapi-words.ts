// What the document says before and between its routes: the rules of every request, and the families in their order.

export const introduction = `
Every route answers \`{ "data": … }\`, or \`{ "error": { "code", "message" } }\` with the HTTP status of the code.

**Keys.** Send yours as \`x-api-key\`. A team's key goes with \`X-Team-Id\`.

**Repeating.** Give a POST an \`Idempotency-Key\` and repeat it as often as you must: within 72 hours the same request is answered as
the first time, with \`Idempotency-Replayed: true\`, and does nothing twice. Answers of 5xx and 429 are not kept.

**Pages.** Lists that page take \`limit\` and \`cursor\` and answer \`nextCursor\` and \`hasMore\`. A cursor belongs to its sort and filters.

**Limits.** \`RateLimit-*\` say how a key stands in this second; after a 429, wait for \`Retry-After\`.

**Live.** Follow \`GET /events/stream\`, or let webhooks receive the same events. The whole graph is at \`/graphql\`, with the same keys.
`.trim()

interface Tag {
  name: string
  description: string
}

const families: [start: string, name: string, description: string][] = [
  ['/messages', 'Messages', 'Send now or later, cancel, and see what became of each.'],
  ['/instances', 'Instances', 'The connected phone accounts that messages go through.'],
  ['/contacts', 'Contacts', 'Whom the workspace writes to.'],
  ['/contacts/groups', 'Contact groups', 'Contacts under one name.'],
  ['/contacts/bulk-jobs', 'Bulk jobs', 'What is done to 100 contacts or more, in the background.'],
  ['/templates', 'Templates', 'Texts with placeholders, kept to be sent again.'],
  ['/campaigns', 'Campaigns', 'One message to many recipients.'],
  ['/webhooks', 'Webhooks', 'Addresses of yours that receive events, and what was delivered to them.'],
  ['/events', 'Events', 'What happens, as it happens.'],
  ['/number-lookups', 'Number look-ups', 'Whether numbers are on the network.'],
  ['/media', 'Media', 'Files for messages, kept here.'],
  ['/me', 'Account', 'The account behind the key, its plan and its usage. Personal keys only, but for the plans.'],
  ['/usage', 'Account', ''],
  ['/billing', 'Account', ''],
  ['/statuses', 'Statuses', 'On no plan.'],
  ['/openapi.json', 'This document', 'What you are reading.'],
]

/** The families of routes, in the order of the document. */
export const tags: Tag[] = families.flatMap(([, name, description]) => (description ? [{ name, description }] : []))

/** The family of a path: the one with the longest beginning. @throws for a path of none. */
export function tagOf(path: string): string {
  const own = families.filter(([start]) => path === start || path.startsWith(`${start}/`))
  const [family] = own.sort(([a], [b]) => b.length - a.length)
  if (!family) throw new Error(`${path} belongs to no family of routes: enter one in rest-compat/openapi-words.ts`)
  return family[1]
}
