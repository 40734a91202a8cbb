// Proves where SQL may stand, and that each table is read and written by one module only.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../kit/environment.ts'
import { sourcesOf } from './sources.ts'

/** Files that may name a table of another module, and the reason. */
const exceptions: Record<string, { tables: readonly string[]; reason: string }> = {
  'src/accounts/open-account.ts': {
    tables: ['subscription'],
    reason: 'Every account begins with a subscription; operators create accounts without a gateway and its hooks.',
  },
  'src/accounts/sign-in/prune-unproved.ts': {
    tables: ['subscription'],
    reason: 'An account that was never verified goes with all its rows, in one transaction.',
  },
  'src/billing/admission/admit.sql.ts': {
    tables: ['api_keys', 'workspaces'],
    reason: 'Each request is admitted by one statement: key, workspace, plan, rate window and count (bench accept).',
  },
  'src/billing/admission/admit-session.sql.ts': {
    tables: ['auth_sessions', 'workspaces', 'teams', 'team_members'],
    reason: 'Each request of a person is admitted by one statement: session, team, workspace, plan and rate window.',
  },
  'src/billing/schema.ts': {
    tables: ['user'],
    reason: '`me` is a field of the Prisma plugin, which reads the user with the fields that billing adds to it.',
  },
  'src/billing/team-fit.sql.ts': {
    tables: ['teams', 'team_members', 'team_invitations'],
    reason: 'A plan must allow the teams, which stand above billing; operators set plans without a gateway and its hooks.',
  },
  'src/campaigns/advance.sql.ts': {
    tables: ['instances', 'workspaces', 'subscriptions', 'contacts'],
    reason: 'Each page of a campaign locks it and reads what it depends on in two round trips (npm run bench -- campaign).',
  },
  'src/campaigns/forecast.sql.ts': {
    tables: ['instances'],
    reason:
      'The rate of a campaign depends on the network and the age of its instance; one statement reads both for many instances.',
  },
  'src/providers/cloud/cloud.sql.ts': {
    tables: ['instances'],
    reason: 'The health of numbers falls due by their rows, and numbers of one business account share its webhooks.',
  },
  'src/cli/doctor.sql.ts': {
    tables: ['instances', 'instance_leases', 'webhook_endpoints'],
    reason: 'The doctor looks at a database without starting a gateway.',
  },
  'src/cli/reseal.sql.ts': {
    tables: ['auth_jwks', 'webhook_endpoints', 'instances', 'messages', 'mails'],
    reason: 'A change of SECRET_KEY concerns every sealed column, and is made without a gateway.',
  },
  'src/core/over-plan.sql.ts': {
    tables: ['workspaces', 'teams'],
    reason: 'What rests is counted for many owners at once; only their workspaces lead to it.',
  },
  'src/erase-account.sql.ts': {
    tables: ['workspaces', 'users', 'instances', 'events', 'web_sessions', 'web_removals'],
    reason: 'An account that has ended goes with the rows of every domain, in the order of their foreign keys.',
  },
  'src/demo/demo.sql.ts': { tables: ['users'], reason: 'The demo account is created in an empty database only.' },
  'src/demo/demo.ts': {
    tables: ['user', 'apiKey', 'instance', 'contact', 'contactGroup', 'template'],
    reason: 'The rows of the demo account have fixed ids, which no verb of a domain would give them.',
  },
  'src/instances/sending.sql.ts': {
    tables: ['instance_leases'],
    reason: 'The claim of a message notifies the process that holds the connection of its instance, in its own transaction.',
  },
  'src/messages/accept/insert.sql.ts': {
    tables: ['workspaces'],
    reason:
      'A message that counts stores the billing period of its owner, which one join reads for the whole batch (bench accept).',
  },
  'src/messages/accept/unsent.sql.ts': {
    tables: ['workspaces'],
    reason: 'Quota comes back to the owner of the workspace, whom the statement that locks the messages reads.',
  },
  'src/messages/cancel.sql.ts': {
    tables: ['workspaces'],
    reason: 'Quota comes back to the owner of the workspace, read under the row lock.',
  },
  'src/messages/dispatch/claim.sql.ts': {
    tables: ['instances', 'workspaces', 'subscriptions'],
    reason: 'A claim locks a batch and reads what its decisions depend on in one round trip (npm run bench -- dispatch).',
  },
  'src/messages/dispatch/fail.sql.ts': {
    tables: ['workspaces'],
    reason: 'Quota comes back to the owner of the workspace, whom the statement that fails the messages reads.',
  },
  'src/messages/accept/reply.sql.ts': {
    tables: ['workspaces', 'subscriptions'],
    reason: 'A reply to a keyword has no caller, so its payer is read with the plan, as a claim reads it.',
  },
  'src/messages/dispatch/withdraw.sql.ts': {
    tables: ['workspaces'],
    reason: 'Quota comes back to the owner of the workspace, whom the statement that cancels the messages reads.',
  },
  'src/messages/receipts/sandbox-inbound.ts': {
    tables: ['instance'],
    reason: 'Only an instance on the sandbox takes inbound messages from a caller, checked in the transaction that stores one.',
  },
  'src/messages/receipts/inbound.sql.ts': {
    tables: ['instances', 'contacts'],
    reason: 'A batch of inbound messages finds its instances and contacts in the statement that inserts it.',
  },
  'src/messages/find.sql.ts': {
    tables: ['instances'],
    reason: 'The index of the ids that networks gave starts with the instance, which the workspace has few of.',
  },
  'src/messages/receipts/early.sql.ts': {
    tables: ['instances'],
    reason: 'A receipt of an instance that was erased meanwhile is left out by the statement that keeps receipts.',
  },
  'src/messages/receipts/media.sql.ts': {
    tables: ['instances', 'workspaces'],
    reason: 'The job that fetches a file reads the message, its instance and the owner who pays in one statement.',
  },
  'src/messages/receipts/mark-read.sql.ts': {
    tables: ['instances'],
    reason: 'The job that tells a network of a read message reads the message and its instance in one statement.',
  },
  'src/messages/erase/erase.sql.ts': {
    tables: ['workspaces'],
    reason: 'Quota comes back to the owner of the workspace, which the statement that locks the messages reads.',
  },
  'src/messages/retention/files.sql.ts': {
    tables: ['templates', 'campaigns'],
    reason: 'One statement tells whether a file of a deleted message is used elsewhere.',
  },
  'src/messages/retention/retention.sql.ts': {
    tables: ['workspaces'],
    reason: 'One statement finds every workspace with expired messages, also those without settings of their own.',
  },
  'src/messages/safety/traffic.sql.ts': {
    tables: ['instances'],
    reason: 'The index of messages starts with the workspace, which only the instance knows.',
  },
  'src/teams/end-account.ts': {
    tables: ['workspace'],
    reason: 'The personal workspace of an account closes together with its teams, in one transaction.',
  },
  'src/webhooks/attempts.sql.ts': {
    tables: ['events'],
    reason: 'The deliveries of a message are those of its events; what their receivers answered is erased with it.',
  },
  'src/webhooks/claim.sql.ts': {
    tables: ['events'],
    reason: 'A delivery has the payload of its event: the claim reads both in one round trip (npm run bench -- webhooks).',
  },
  'src/webhooks/deliveries.sql.ts': { tables: ['events'], reason: 'A delivery shows the payload of its event.' },
  'src/campaigns/recipients.sql.ts': {
    tables: ['messages', 'contacts'],
    reason: 'A page of recipients has the status that the message of each has, and is read by it, in one statement.',
  },
  'src/campaigns/progress.sql.ts': {
    tables: ['messages'],
    reason: 'The steps and the failures of a campaign are those of its recipients and of their messages.',
  },
  'src/messages/days.sql.ts': {
    tables: ['workspaces'],
    reason: 'The days of an account are those of all its workspaces.',
  },
  'src/messages/timeline.sql.ts': {
    tables: ['instances'],
    reason: 'A message waits while its instance is not connected; one statement tells all that keeps the messages of a page.',
  },
  'src/contacts/groups/membership.sql.ts': {
    tables: ['messages'],
    reason: 'The messages of a deleted contact lose it in bounded statements; the key of the table would do it in one.',
  },
  'src/campaigns/sweep.sql.ts': {
    tables: ['messages'],
    reason: 'A campaign that paused itself has a step to come while messages of it have not left.',
  },
  'src/campaigns/stats.sql.ts': { tables: ['messages'], reason: 'Counts recipients and their messages as of one moment.' },
}

/** Module that owns the tables of each file of the Prisma schema, where the two names differ. */
const owners: Record<string, string> = { sandbox: 'providers', cloud: 'providers', web: 'providers' }

/** The browser part of the console has no database: its `query` asks the graph. */
const sources = sourcesOf('src').filter(({ path: file }) => !file.startsWith('src/console/web/'))

function domainOf(file: string): string {
  return file.split('/')[1] as string
}

/** Owner of each table by its name in SQL, and of each model by its name in Prisma Client. */
function ownersOf(): { tables: Map<string, string>; models: Map<string, string> } {
  const tables = new Map<string, string>()
  const models = new Map<string, string>()
  const dir = path.join(root, 'prisma/schema')
  for (const file of readdirSync(dir)) {
    const domain = path.basename(file, '.prisma')
    const owner = owners[domain] ?? domain
    for (const [, model, body] of readFileSync(path.join(dir, file), 'utf8').matchAll(/^model (\w+) \{(.*?)^\}/gms)) {
      const table = /@@map\("(\w+)"\)/.exec(body as string)?.[1]
      if (table) tables.set(table, owner)
      models.set((model as string).charAt(0).toLowerCase() + (model as string).slice(1), owner)
    }
  }
  return { tables, models }
}

/** Source code without its comments. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

const statement =
  /['"`]\s*(select\s|insert into\s|update \S+( \w+)? set\s|delete from\s|with (recursive )?\w+( \([^)]*\))? as\s|lock table\s)/

it('SQL stands in *.sql.ts and in core/database, and nowhere else', () => {
  const astray = sources
    .filter(({ path: file }) => !file.endsWith('.sql.ts') && !file.startsWith('src/core/database/'))
    .filter(({ text }) => statement.test(codeOf(text)) || /\.query(<[^(]*>)?\(/.test(codeOf(text)))
  expect(astray.map(({ path: file }) => file)).toEqual([])
})

it('a table is named by the files of one module', () => {
  const { tables, models } = ownersOf()
  const foreign = sources.flatMap(({ path: file, text }) => {
    const code = codeOf(text)
    const inSql = [...code.matchAll(/\b(?:from|join|into|update|using|table)\s+(?:only\s+)?"?([a-z_]+)"?/g)].map(
      ([, name]) => name as string,
    )
    const inPrisma = [...code.matchAll(/\bdb\s*\.(\w+)\s*\./g)].map(([, name]) => name as string)
    const allowed = exceptions[file]?.tables ?? []
    const named = [
      ...inSql.filter((name) => tables.has(name)).map((name) => ({ name, owner: tables.get(name) })),
      ...inPrisma.filter((name) => models.has(name)).map((name) => ({ name, owner: models.get(name) })),
    ]
    return named
      .filter(({ name, owner }) => owner !== domainOf(file) && !allowed.includes(name))
      .map(({ name }) => `${file}: ${name}`)
  })
  expect(foreign).toEqual([])
})

it('an exception for a table names a file that uses it, and a reason', () => {
  for (const [file, { tables: named, reason }] of Object.entries(exceptions)) {
    const text = sources.find(({ path: known }) => known === file)?.text ?? ''
    expect({ file, unused: named.filter((name) => !text.includes(name)) }).toEqual({ file, unused: [] })
    expect(reason.length).toBeGreaterThan(20)
  }
})
