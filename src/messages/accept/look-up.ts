// Reads the rows that a batch of messages refers to: instances, contacts and templates, with pipelined queries in one round trip.
import { type LockedContact, lockContacts, lockContactsByPhone, type NamedContact } from '../../contacts/contacts.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import type { Template } from '../../generated/prisma/client.ts'
import { readSendingInstances, type SendingInstance } from '../../instances/sending.sql.ts'
import { typesOfFiles } from '../../media/service.ts'
import type { TemplateType } from '../../message-types/service.ts'
import { readSuppressed } from '../../suppressions/suppressions.sql.ts'
import type { CloudTemplate } from '../../templates/cloud.ts'
import { type Compiled, compileTemplate } from '../../templates/render.ts'
import { readTemplates } from '../../templates/templates.sql.ts'
import type { MessageFields } from '../input.ts'
import type { OpenTemplate } from './compose.ts'

/** A message to accept, and its workspace. */
export interface MessageToAccept {
  principal: { workspaceId: string }
  input: MessageFields
}

/**
 * Says which messages of a batch must wait for another transaction, as long as that takes. The messages of other callers do not wait: they are
 * accepted without these.
 */
export class MustWait extends Error {
  readonly mustWait: (message: MessageToAccept & { idempotency?: unknown }) => boolean

  constructor(mustWait: MustWait['mustWait']) {
    super('a message must wait for another transaction')
    this.mustWait = mustWait
  }
}

/** The records that messages name. Those of other workspaces are never returned. */
export interface Records {
  /** Time of the transaction. */
  now: Date
  instance: (message: MessageToAccept) => SendingInstance | undefined
  /** The named contact; without one, the contact with the recipient's number. */
  contact: (message: MessageToAccept) => NamedContact | undefined
  /** @throws TEMPLATE_INVALID when the template does not compile. */
  template: (message: MessageToAccept) => OpenTemplate | undefined
  /**
   * The MIME type of the file of the message or its template; null if this gateway has none behind its own address, undefined for another
   * address or none.
   */
  fileType: (message: MessageToAccept) => string | null | undefined
  /** True if the recipient is in the do-not-contact list. */
  isSuppressed: (message: MessageToAccept) => boolean
}

/**
 * Locks the contacts FOR KEY SHARE until `tx` ends, so that they are not deleted before the messages are stored.
 * @throws MustWait when a contact is in use, unless the call `waits` for it.
 */
export async function lookUp(app: App, tx: Sql, messages: readonly MessageToAccept[], waits = true): Promise<Records> {
  const [{ now, instances }, named, numbered, templates, files, isSuppressed] = await Promise.all([
    readSendingInstances(tx, distinct(messages, 'instanceId')),
    readContacts(tx, distinct(messages, 'contactId'), waits),
    readNumbers(
      tx,
      messages.filter(({ input }) => input.contactId == null),
      waits,
    ),
    readTemplates(tx, distinct(messages, 'templateId')),
    typesOfFiles(
      app,
      tx,
      messages.flatMap(({ input }) => input.mediaUrl ?? []),
    ),
    readSuppressed(
      tx,
      messages.map(({ principal, input }) => ({ workspaceId: principal.workspaceId, phone: input.to })),
    ),
  ])
  const contactOf = ({ principal, input }: MessageToAccept): LockedContact | undefined =>
    input.contactId != null ? own(principal, named.get(input.contactId)) : numbered.get(`${principal.workspaceId} ${input.to}`)
  const isInUse = (message: MessageToAccept) => contactOf(message)?.inUse === true
  if (messages.some(isInUse)) throw new MustWait(isInUse)
  const filesOfTemplates = await typesOfFiles(
    app,
    tx,
    [...templates.values()].flatMap(({ mediaUrl }) => mediaUrl ?? []),
  )
  const compiled = new Map<string, Compiled>()
  function open({ id, type, body, mediaUrl, cloud }: Template): OpenTemplate {
    const text = compiled.get(id) ?? compileTemplate(body)
    compiled.set(id, text)
    return { type: type as TemplateType, mediaUrl, compiled: text, cloud: cloud as CloudTemplate | null }
  }
  return {
    now,
    instance({ principal, input }) {
      const instance = own(principal, instances.get(input.instanceId))
      return instance?.deletedAt === null ? instance : undefined
    },
    contact: contactOf,
    template: ({ principal, input }) => {
      const template = input.templateId == null ? undefined : own(principal, templates.get(input.templateId))
      return template && open(template)
    },
    isSuppressed: ({ principal, input }) => isSuppressed(principal.workspaceId, input.to),
    fileType: ({ principal, input }) => {
      if (input.templateId == null) return files.get(input.mediaUrl ?? '')
      return filesOfTemplates.get(own(principal, templates.get(input.templateId))?.mediaUrl ?? '')
    },
  }
}

function distinct(messages: readonly MessageToAccept[], field: 'instanceId' | 'contactId' | 'templateId'): string[] {
  return [...new Set(messages.flatMap(({ input }) => input[field] ?? []))]
}

function own<Row extends { workspaceId: string }>(principal: { workspaceId: string }, row: Row | undefined): Row | undefined {
  return row?.workspaceId === principal.workspaceId ? row : undefined
}

async function readContacts(tx: Sql, ids: readonly string[], waits: boolean): Promise<Map<string, LockedContact>> {
  return new Map((await lockContacts(tx, ids, waits)).map((contact) => [contact.id, contact]))
}

/** Reads contacts by workspace and phone number. Keys are `workspaceId phone`. */
async function readNumbers(tx: Sql, messages: readonly MessageToAccept[], waits: boolean): Promise<Map<string, LockedContact>> {
  const contacts = await lockContactsByPhone(
    tx,
    messages.map(({ principal, input }) => ({ workspaceId: principal.workspaceId, phone: input.to })),
    waits,
  )
  return new Map(contacts.map((contact) => [`${contact.workspaceId} ${contact.phone}`, contact]))
}
