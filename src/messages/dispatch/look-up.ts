// What acceptance reads before it judges a flush: instances, contacts and templates, each in one query, on one trip.
import type { Sql } from '../../core/database/database.ts'
import type { Template } from '../../generated/prisma/client.ts'
import {
  type Compiled,
  compileTemplate,
  contactColumns,
  type KnownContact,
  readTemplates,
  type TemplateType,
} from '../../templates/service.ts'
import type { OpenTemplate, SharedContact } from '../accept/compose.ts'
import type { MessageFields } from '../input.ts'
import type { SafetyInstance } from '../safety/safety.ts'

/** A message as it is asked for, and in which workspace. */
export interface Asked {
  principal: { workspaceId: string }
  input: MessageFields
}

type Instance = SafetyInstance & { workspaceId: string; waNumber: string | null }
type Contact = SharedContact & KnownContact & { workspaceId: string }

/** What there is of what messages name; nothing of another workspace. */
export interface Found {
  /** The transaction's own time. */
  now: Date
  instance: (asked: Asked) => Instance | undefined
  /** The contact that is named, or, for a template that names none, the one of the recipient's number. */
  contact: (asked: Asked) => Contact | undefined
  /** @throws TEMPLATE_INVALID */
  template: (asked: Asked) => OpenTemplate | undefined
}

/** Contacts that are found stay until `tx` ends, so that messages may refer to them. */
export async function lookUp(tx: Sql, asked: readonly Asked[]): Promise<Found> {
  const [{ now, instances }, named, numbered, templates] = await Promise.all([
    readInstances(tx, distinct(asked, 'instanceId')),
    readContacts(tx, distinct(asked, 'contactId')),
    readNumbers(
      tx,
      asked.filter(({ input }) => input.templateId != null && input.contactId == null),
    ),
    readTemplates(tx, distinct(asked, 'templateId')),
  ])
  const compiled = new Map<string, Compiled>()
  function open({ id, type, body, mediaUrl }: Template): OpenTemplate {
    const text = compiled.get(id) ?? compileTemplate(body)
    compiled.set(id, text)
    return { type: type as TemplateType, mediaUrl, compiled: text }
  }
  return {
    now,
    instance: ({ principal, input }) => own(principal, instances.get(input.instanceId)),
    contact: ({ principal, input }) =>
      input.contactId != null ? own(principal, named.get(input.contactId)) : numbered.get(`${principal.workspaceId} ${input.to}`),
    template: ({ principal, input }) => {
      const template = input.templateId == null ? undefined : own(principal, templates.get(input.templateId))
      return template && open(template)
    },
  }
}

function distinct(asked: readonly Asked[], field: 'instanceId' | 'contactId' | 'templateId'): string[] {
  return [...new Set(asked.flatMap(({ input }) => input[field] ?? []))]
}

function own<Row extends { workspaceId: string }>(principal: { workspaceId: string }, row: Row | undefined): Row | undefined {
  return row?.workspaceId === principal.workspaceId ? row : undefined
}

async function readInstances(tx: Sql, ids: readonly string[]): Promise<{ now: Date; instances: Map<string, Instance> }> {
  const { rows } = await tx.query<Instance & { now: Date }>({
    name: 'messages.accept.instances',
    text: `select date_trunc('milliseconds', now()) as now, i.id, i."workspaceId", i."waNumber", i."firstConnectedAt", i."restrictedAt",
        coalesce(i.disconnections, '{}') as disconnections
      from (select 1) one left join instances i on i.id = any($1::uuid[]) and i."deletedAt" is null`,
    values: [ids],
  })
  const { now } = rows[0] as { now: Date }
  return { now, instances: new Map(rows.filter((row) => row.id).map((row) => [row.id, row])) }
}

async function readContacts(tx: Sql, ids: readonly string[]): Promise<Map<string, Contact>> {
  if (ids.length === 0) return new Map()
  const { rows } = await tx.query<Contact>({
    name: 'messages.accept.contacts',
    text: `select id, "workspaceId", ${contactColumns} from contacts where id = any($1::uuid[]) order by id for key share`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Contacts by workspace and number, for templates that were given none. */
async function readNumbers(tx: Sql, asked: readonly Asked[]): Promise<Map<string, Contact>> {
  if (asked.length === 0) return new Map()
  const { rows } = await tx.query<Contact>({
    name: 'messages.accept.numbers',
    text: `select id, "workspaceId", ${contactColumns} from contacts
      where ("workspaceId", phone) in (select * from unnest($1::uuid[], $2::text[])) order by id for key share`,
    values: [asked.map(({ principal }) => principal.workspaceId), asked.map(({ input }) => input.to)],
  })
  return new Map(rows.map((row) => [`${row.workspaceId} ${row.phone}`, row]))
}
