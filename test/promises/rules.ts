// Generators for what JSON Schema cannot express about bodies: existing ids, and rules between fields.
import fc from 'fast-check'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import { phone } from '../../src/core/phone.ts'
import { needsFile, rowOf, sendTypes, templateTypes } from '../../src/message-types/service.ts'
import { apiDocument } from '../kit/document.ts'
import type { Things } from '../rest-compat/things.ts'
import { type Fields, fieldsOf, type Known, presentFor, recordOf, text } from './arbitrary.ts'

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 6, maxLength: 12 })
const number = fc
  .tuple(fc.constantFrom('+1', '+39', '+44', '+49', '+91', '+599'), digits)
  .map((parts) => parts.join(''))
  .filter((value) => phone.safeParse(value).success)

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/)
const path = fc.webPath()
const mediaUrl = fc
  .tuple(fc.constantFrom('http', 'https'), word, path)
  .map(([kind, host, rest]) => `${kind}://${host}.example.com${rest}`)
const webhookUrl = fc.tuple(word, path).map(([host, rest]) => `https://${host}.example.com${rest}`)
const email = fc.tuple(word, word).map(([name, host]) => `${name}@${host}.example`)
const label = text(1, 50).map((value) => value.trim() || 'vip')

const zones = fc.constantFrom(['Z', 0], ['+05:30', 330], ['-08:00', -480])
const later = fc.tuple(fc.integer({ min: 5, max: 360 * 24 * 60 }), zones).map(([minutes, [zone, offset]]) => {
  return new Date(Date.now() + (minutes + Number(offset)) * 60_000).toISOString().replace('Z', `${zone}`)
})

/** The value generators for a workspace that has these resources. */
export function knownIn(things: Things): Known {
  const { schemas } = apiDocument().components as { schemas: Record<string, Schema> }
  const named = (name: string) => schemas[name] as Schema
  const { instanceId, contactId, groupId, templateId } = things
  const ids = { instanceId, contactId, groupId, templateId, campaignId: things.campaigns }
  const contactIds = fc.uniqueArray(fc.constantFrom(things.contacts, contactId), { minLength: 1 })
  const known: Known = {
    ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, fc.constant(id)])),
    contactIds,
    groupIds: fc.constantFrom([things.groups], [groupId, things.groups]),
    [named('CreateContactInput').properties?.phone?.pattern as string]: number,
    email,
    provider: fc.constant('sandbox'),
    ...Object.fromEntries(['name', 'firstName', 'lastName'].map((field) => [field, text(1, 100).filter(isNotBlank)])),
    events: fc.uniqueArray(presentFor(named('EventType'), {}), { minLength: 1 }),
    mediaUrl,
    QuietHoursInput: fc.constantFrom({ from: '21:00', to: '08:00', timeZone: 'Europe/Rome' }),
    CloudTemplateInput: fc.constantFrom({ name: 'order_shipped', language: 'en_US', parameters: ['custom.order'] }),
    url: webhookUrl,
    tags: fc.array(label, { maxLength: 50 }),
    tag: label,
    scheduledAt: later,
    // Lists long enough for a background job are included, and some of the contacts do not exist.
    ContactIds: fc.record({ contactIds: fc.oneof(contactIds, anybodys(1, 10), anybodys(100, 110)) }),
  }
  known.SendMessageInput = message(named('SendMessageInput'), known)
  known.ScheduleMessageInput = message(named('ScheduleMessageInput'), known)
  known.SandboxInboundInput = inbound(named('SandboxInboundInput'), known)
  known.CreateCampaignInput = campaign(named('CreateCampaignInput'), known)
  known.CreateTemplateInput = template(named('CreateTemplateInput'), known)
  known.UpdateTemplateInput = templateChange(named('UpdateTemplateInput'), known)
  for (const name of Object.keys(schemas).filter((one) => one.startsWith('Update'))) {
    const change = recordOf(named(name), fieldsOf(named(name), known))
    known[name] ??= change.filter((body) => Object.keys(body).length > 0)
  }
  return known
}

function isNotBlank(value: string): boolean {
  return /\P{White_Space}/u.test(value)
}

function anybodys(minLength: number, maxLength: number): fc.Arbitrary<string[]> {
  return fc.uniqueArray(fc.uuid(), { minLength, maxLength })
}

/** A message of a type with the fields that it requires, or a message from a template. */
function message(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const { type: _, templateId: __, ...fields } = fieldsOf(schema, known)
  const present = (name: string) => presentFor(schema.properties?.[name] as Schema, known, name)
  const button = presentFor((schema.properties?.buttons?.items ?? {}) as Schema, known)
  const buttons = fc.uniqueArray(button as fc.Arbitrary<{ id: string }>, { minLength: 1, maxLength: 3, selector: ({ id }) => id })
  /** Fields for which a type is stricter than the schema: it refuses an empty text, and too many or duplicate buttons. */
  const stricter: Fields = { description: text(1, 1024), buttons }
  const ofType = sendTypes.map((type) => {
    const { required, longestText } = rowOf(type)
    const least = required.includes('text') ? 1 : 0
    const words: Fields = longestText === undefined ? {} : { text: text(least, longestText) }
    const needs = Object.fromEntries(required.map((name) => [name, words[name] ?? stricter[name] ?? present(name)]))
    const file: Fields = type === 'text' ? { mediaUrl: fc.constant(null) } : {}
    const own = { ...fields, ...words, ...file, ...needs, type: fc.constant(type), templateId: fc.constant(null) }
    return recordOf(schema, own, ['type', ...required])
  })
  const ofTemplate = recordOf(
    schema,
    { ...fields, templateId: present('templateId'), type: fc.constant(null), text: fc.constant(null) },
    ['templateId'],
  )
  return fc.oneof(...ofType, ofTemplate)
}

/** A message that comes in: a text, or another type with the fields that it requires. */
function inbound(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const { type: _, ...fields } = fieldsOf(schema, known)
  const needs: Record<string, readonly string[]> = {
    text: ['text'],
    image: ['mediaUrl'],
    location: ['latitude', 'longitude'],
    contact: ['text', 'phone'],
    unknown: [],
  }
  const ofType = Object.entries(needs).map(([type, required]) => {
    const present = required.map((name) => [name, presentFor(schema.properties?.[name] as Schema, known, name)])
    const button: Fields = type === 'text' ? {} : { buttonId: fc.constant(null) }
    const words: Fields = type === 'unknown' ? button : { ...button, text: text(1, 300) }
    const own = {
      ...fields,
      ...words,
      ...Object.fromEntries(present.filter(([name]) => name !== 'text')),
      type: fc.constant(type),
    }
    return recordOf(schema, own, ['type', ...required])
  })
  return fc.oneof(...ofType)
}

/** A campaign with at least one recipient. */
function campaign(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const { recipients, contactIds, groupIds, ...properties } = schema.properties as Record<string, Schema>
  const whom = { recipients, contactIds, groupIds } as Record<string, Schema>
  const own = fieldsOf({ properties: whom }, known)
  const recipient = fc.array(presentFor(recipients?.items as Schema, known), { minLength: 1, maxLength: 20 })
  const some = { recipients: recipient, contactIds: known.contactIds, groupIds: known.groupIds } as Fields
  const audience = fc.oneof(
    ...Object.keys(some).map((name) => fc.record({ ...own, [name]: some[name] as never }, { requiredKeys: [name] })),
  )
  return fc.tuple(message({ ...schema, properties }, known), audience).map(([body, to]) => ({ ...body, ...to }))
}

const plainText = text(0, 300).map((value) => value.replace(/[{}]/g, ''))
const placeholder = fc.constantFrom('{{contact.name}}', '{{ custom.order }}', '{{contact.firstName | default: "you"}}')
const templateBody = fc.tuple(plainText, placeholder, plainText).map((parts) => parts.join(''))

function template(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const { mediaUrl: _, ...fields } = { ...fieldsOf(schema, known), body: templateBody } as Fields
  const approved = templateTypes.filter((type) => needsFile(type) && type !== 'audio')
  return fc.oneof(
    recordOf(schema, { ...fields, type: fc.constant('text') }, ['body']),
    recordOf(schema, { ...fields, type: fc.constantFrom(...approved), mediaUrl }, ['mediaUrl']),
    recordOf(schema, { ...fields, type: fc.constant('audio'), cloud: fc.constant(null), mediaUrl }, ['mediaUrl']),
  )
}

/** A change of the name alone, or of everything that makes a template complete. */
function templateChange(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const { name } = fieldsOf(schema, known) as Record<'name', never>
  return fc.oneof(fc.record({ name }), template({ ...schema, required: ['type'] }, known))
}
