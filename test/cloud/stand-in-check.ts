// The checks of the Graph API's stand-in: a message that Meta's documentation forbids is refused with the code that Meta gives.
import { z } from 'zod'

/** A refusal in Meta's terms. */
export class Refusal extends Error {
  readonly code: number
  readonly details: string
  readonly status: number
  constructor(code: number, details: string, status = 400) {
    super(details)
    this.code = code
    this.details = details
    this.status = status
  }
}

/** Meta's form of an error. */
export function errorOf(code: number, details: string, error_subcode?: number): object {
  const error_data = { messaging_product: 'whatsapp', details }
  return {
    error: { message: `(#${code}) ${details}`, type: 'OAuthException', code, error_subcode, error_data, fbtrace_id: 'A1b2C3' },
  }
}

export interface Uploaded {
  id: string
  phoneNumberId: string
  mimeType: string
  bytes: Buffer
}

export interface ApprovedByMeta {
  name: string
  language: string
  /** Values of the body. */
  parameters: number
  header?: 'image' | 'video' | 'document'
  /** The names of the parameters, if they have some. */
  names?: string[]
  /** As a list of templates shows it. */
  listed?: { status?: string; parameter_format?: string; components: object[] }
}

const kinds: Record<string, readonly string[]> = {
  image: ['image/jpeg', 'image/png'],
  video: ['video/mp4', 'video/3gpp'],
  audio: ['audio/aac', 'audio/mp4', 'audio/mpeg', 'audio/amr', 'audio/ogg; codecs=opus'],
}
const office = ['wordprocessingml.document', 'presentationml.presentation', 'spreadsheetml.sheet']
kinds.document = [
  ...['text/plain', 'application/pdf', 'application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint'],
  ...office.map((name) => `application/vnd.openxmlformats-officedocument.${name}`),
]
const mostBytes: Record<string, number> = { image: 5, video: 16, audio: 16, document: 100 }

/** The kind of file that a MIME type is for; undefined if Meta takes none of it. */
export function kindOf(mimeType: string): string | undefined {
  return Object.keys(kinds).find((kind) => kinds[kind]?.includes(mimeType))
}

export function checkSize(mimeType: string, bytes: number): void {
  const most = mostBytes[kindOf(mimeType) as string] as number
  if (bytes === 0 || bytes > most * 1024 * 1024) throw new Refusal(100, `the file has ${bytes} bytes; at most ${most} MB`)
}

const words = (most: number) => z.string().min(1).max(most)
const source = { id: z.string().min(1).optional(), link: z.url({ protocol: /^https?$/ }).optional() }
const caption = words(1024).optional()
const trimmed = words(256).refine((id) => id.trim() === id)
const buttons = z
  .array(z.strictObject({ type: z.literal('reply'), reply: z.strictObject({ id: trimmed, title: words(20) }) }))
  .min(1)
  .max(3)
  .refine((list) => new Set(list.map(({ reply }) => reply.id)).size === list.length)
  .refine((list) => new Set(list.map(({ reply }) => reply.title)).size === list.length)
const textPart = (most: number) => z.strictObject({ type: z.literal('text'), text: words(most) })
const value = textPart(1024).extend({ parameter_name: z.string().optional() })
const headerFile = z.union(
  (['image', 'video', 'document'] as const).map((type) =>
    z.strictObject({
      type: z.literal(type),
      [type]: z.strictObject(type === 'document' ? { ...source, filename: words(240).optional() } : source),
    }),
  ),
)
const name = z
  .strictObject({
    formatted_name: words(1024),
    ...Object.fromEntries(
      ['first_name', 'last_name', 'middle_name', 'suffix', 'prefix'].map((part) => [part, words(1024).optional()]),
    ),
  })
  .refine((parts) => Object.keys(parts).length > 1)
const phone = z.strictObject({ phone: words(30), type: z.string().optional(), wa_id: z.string().regex(/^\d+$/).optional() })

const contents = {
  text: z.strictObject({ body: words(4096), preview_url: z.boolean().optional() }),
  image: z.strictObject({ ...source, caption }),
  video: z.strictObject({ ...source, caption }),
  audio: z.strictObject({ ...source, voice: z.boolean().optional() }),
  document: z.strictObject({ ...source, caption, filename: words(240).optional() }),
  location: z.strictObject({
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    name: words(1024).optional(),
    address: words(1024).optional(),
  }),
  contacts: z.array(z.strictObject({ name, phones: z.array(phone).optional() })).min(1),
  interactive: z.strictObject({
    type: z.literal('button'),
    header: textPart(60).optional(),
    body: z.strictObject({ text: words(1024) }),
    footer: z.strictObject({ text: words(60) }).optional(),
    action: z.strictObject({ buttons }),
  }),
  template: z.strictObject({
    name: z.string().regex(/^[a-z0-9_]{1,512}$/),
    language: z.strictObject({ code: z.string().regex(/^[a-z]{2,3}(_[A-Z]{2})?$/) }),
    components: z
      .array(
        z.union([
          z.strictObject({ type: z.literal('header'), parameters: z.array(headerFile).length(1) }),
          z.strictObject({ type: z.literal('body'), parameters: z.array(value).min(1) }),
        ]),
      )
      .optional(),
  }),
}
type Type = keyof typeof contents
const common = {
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual').optional(),
  to: z.string().regex(/^\+?[1-9]\d{4,14}$/),
  context: z.strictObject({ message_id: z.string() }).optional(),
  biz_opaque_callback_data: words(512).optional(),
}

export interface CheckedMessage {
  to: string
  type: Type
  biz_opaque_callback_data?: string
  [content: string]: unknown
}

/** The number that sends, as far as the checks need it. */
export interface Sender {
  waNumber: string
  templates: readonly ApprovedByMeta[]
  upload: (id: string) => Uploaded | undefined
}

/** @throws Refusal for a message that Meta would not take. */
export function checkMessage(body: unknown, sender: Sender): CheckedMessage {
  const type = (body as { type?: unknown } | null)?.type ?? 'text'
  if (typeof type !== 'string' || !Object.hasOwn(contents, type))
    throw new Refusal(100, `Param type must be one of {…}, got ${type}`)
  const content = contents[type as Type]
  const { success, error } = z.strictObject({ ...common, type: z.literal(type), [type]: content }).safeParse(body)
  if (!success) throw refusalOf(error.issues[0] as z.core.$ZodIssue, body)
  const message = body as CheckedMessage
  if (message.to.replace('+', '') === sender.waNumber.replace(/\D/g, '')) throw new Refusal(131021, 'Recipient is the sender')
  const file = message[message.type] as { id?: string; link?: string; voice?: boolean }
  if (['image', 'video', 'audio', 'document'].includes(type)) checkFile(type, file, sender)
  if (type === 'template') checkTemplate(message.template as z.output<typeof contents.template>, sender)
  return message
}

const readMark = z.strictObject({
  messaging_product: z.literal('whatsapp'),
  status: z.literal('read'),
  message_id: z.string().startsWith('wamid.'),
  typing_indicator: z.strictObject({ type: z.literal('text') }).optional(),
})

/** Says that an inbound message was read. @throws Refusal */
export function checkRead(body: unknown): object {
  const { success, error } = readMark.safeParse(body)
  if (!success) throw refusalOf(error.issues[0] as z.core.$ZodIssue, body)
  return { success: true }
}

function refusalOf(issue: z.core.$ZodIssue, body: unknown): Refusal {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return new Refusal(100, `Unexpected key "${issue.keys[0]}" on param "${path}"`)
  const isMissing = (value: unknown) => issue.path.reduce<unknown>((at, name) => Object(at)[name], value) === undefined
  return isMissing(body)
    ? new Refusal(131008, `Parameter ${path} is missing`)
    : new Refusal(131009, `Parameter value of ${path} is not valid`)
}

function checkFile(kind: string, file: { id?: string; link?: string; voice?: boolean }, sender: Sender): void {
  if ((file.id === undefined) === (file.link === undefined)) throw new Refusal(131009, 'Exactly one of id and link is needed')
  if (file.id === undefined) return
  const upload = sender.upload(file.id)
  if (!upload) throw new Refusal(100, `Media ${file.id} does not exist`)
  if (kindOf(upload.mimeType) !== kind) throw new Refusal(131053, `Unsupported ${kind} mime type ${upload.mimeType}`)
  if (file.voice && upload.mimeType !== 'audio/ogg; codecs=opus') throw new Refusal(131053, 'A voice message must be Ogg Opus')
}

function checkTemplate({ name, language, components = [] }: z.output<typeof contents.template>, sender: Sender): void {
  const template = sender.templates.find((each) => each.name === name && each.language === language.code)
  if (!template) throw new Refusal(132001, `template name (${name}) does not exist in ${language.code}`, 404)
  const values = (components.find(({ type }) => type === 'body')?.parameters ?? []) as z.output<typeof value>[]
  if (values.length !== template.parameters)
    throw new Refusal(132000, `body: ${values.length} parameters, expected ${template.parameters}`)
  const names = values.map(({ parameter_name: name }) => name)
  if (names.some((name, i) => name !== template.names?.[i])) throw new Refusal(132000, 'body: the names of the parameters differ')
  const header = components.find((component) => component.type === 'header')?.parameters[0] as
    | (Record<string, { id?: string; link?: string }> & { type: string })
    | undefined
  if (header?.type !== template.header) throw new Refusal(132012, `header: ${header?.type}, expected ${template.header}`)
  if (header) checkFile(header.type as string, header[header.type as string] as { id?: string }, sender)
}
