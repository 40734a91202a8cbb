// Texts of the OpenAPI documents: the introductions, and the families of routes (tags) in order. Longer texts are Markdown files in `guides/`.
import { readFileSync } from 'node:fs'
import type { Surface } from '../route.ts'

/** Reads guides when a document is made, not at start: most processes never make one. */
function guide(...names: string[]): () => string {
  const read = (name: string) => readFileSync(new URL(`guides/${name}.md`, import.meta.url), 'utf8').trim()
  return () => names.map(read).join('\n\n')
}

/** Changes examples with an API key to an access token and the console's prefix. */
export function withToken(text: string): string {
  return text.replaceAll(/^```(?:sh|js)\n[\s\S]*?^```$/gm, (example) =>
    /x-api-key: \$KEY|'x-api-key': \S+\.KEY/.test(example)
      ? example
          .replaceAll('x-api-key: $KEY', 'authorization: Bearer $TOKEN')
          // In JavaScript the key comes from the environment.
          .replaceAll(/'x-api-key': (\S+)\.KEY/g, "authorization: 'Bearer ' + $1.TOKEN")
          .replaceAll('$URL/api/v1/', '$URL/api/')
          .replaceAll('URL}/api/v1/', 'URL}/api/')
      : example,
  )
}

/** The introduction of each document. */
export const introductions: Record<Surface, () => string> = {
  public: guide('introduction', 'requests', 'graphql', 'glossary'),
  console: guide('console-introduction', 'requests', 'glossary'),
}

interface Family {
  start: string
  name: string
  /** Omitted if another entry of the same name has the description. */
  description?: string | (() => string)
}

const family = (start: string, name: string, description?: Family['description']): Family => ({ start, name, description })

const ofBoth = [
  family('/messages', 'Messages', guide('messages')),
  family('/instances', 'Instances', guide('instances')),
  family('/contacts', 'Contacts', guide('contacts')),
  family('/contacts/groups', 'Contact groups', 'Manage groups of contacts.'),
  family('/contacts/bulk-jobs', 'Bulk jobs', guide('bulk-jobs')),
  family('/suppressions', 'Do not contact', guide('suppressions')),
  family('/suppression-settings', 'Do not contact'),
  family('/templates', 'Templates', guide('templates')),
  family('/campaigns', 'Campaigns', guide('campaigns')),
  family('/webhooks', 'Webhooks', guide('webhooks')),
  family('/events', 'Events', guide('events')),
  family('/number-lookups', 'Number lookups', 'Check whether numbers are on the network: up to 100 numbers in one request.'),
  family('/media', 'Media', guide('media')),
  family(
    '/retention-settings',
    'Retention',
    'Choose how long the workspace keeps its messages. A message that has not left stays; usage and the counts of campaigns stay too.',
  ),
]
const atTheEnd = [
  family('/statuses', 'Statuses', 'Publish statuses. No plan includes this feature.'),
  family('/openapi.json', 'This document', 'Download this OpenAPI document.'),
]

const families: Record<Surface, readonly Family[]> = {
  public: [
    ...ofBoth,
    family(
      '/me',
      'Account',
      'Read the account of the key, its plan and its usage. Only personal keys have access; the list of plans is open to every key.',
    ),
    family('/usage', 'Account'),
    family('/billing', 'Account'),
    ...atTheEnd,
  ],
  console: [
    family('/auth', 'Sign-in', guide('sign-in')),
    family('/auth/sessions', 'Sessions', 'List your sessions, and end them.'),
    ...ofBoth,
    family('/me', 'Account', 'Read your account and its usage.'),
    family('/usage', 'Account'),
    family('/api-keys', 'API keys', 'Manage the keys that give your programs access to `/api/v1`.'),
    family('/teams', 'Teams', guide('teams')),
    family('/teams/:teamId/members', 'Team members', 'Manage the members of a team and their roles.'),
    family('/teams/:teamId/invitations', 'Team invitations', 'Invite people to a team by mail.'),
    family('/teams/invitations', 'Team invitations'),
    family('/teams/:teamId/api-keys', 'Team API keys', 'Manage the keys that give programs access to the workspace of a team.'),
    family('/billing', 'Billing', guide('billing')),
    family('/teams/:teamId/billing', 'Team billing', 'Manage the plan of the team in the path: the plan of its owner.'),
    ...atTheEnd,
  ],
}

interface Tag {
  name: string
  description: string
}

/** The tags of a surface, in the order of its document. */
export function tagsOf(surface: Surface): Tag[] {
  return described(surface).map(({ name, description }) => {
    const text = typeof description === 'string' ? description : description()
    return { name, description: surface === 'public' ? text : withToken(text) }
  })
}

/** The names of the tags, in the same order. */
export function tagNamesOf(surface: Surface): string[] {
  return described(surface).map(({ name }) => name)
}

type Described = Family & { description: string | (() => string) }

function described(surface: Surface): Described[] {
  return families[surface].filter((one): one is Described => one.description !== undefined)
}

/** The family of a path: the entry with the longest matching prefix. @throws Error when none matches. */
export function tagOf(surface: Surface, path: string): string {
  const own = families[surface].filter(({ start }) => path === start || path.startsWith(`${start}/`))
  const [found] = own.sort((a, b) => b.start.length - a.start.length)
  if (!found) throw new Error(`${path} belongs to no family of routes: enter one in rest-compat/openapi/words.ts`)
  return found.name
}
