// Fields that several message types share, and the rules that go with them.
import { z } from 'zod'
import type { Config } from '../core/config/config.ts'
import type { Rules } from '../core/graph/input.ts'
import { isLonger, text, uuid } from '../core/validation.ts'
import { checkMediaUrl, kindOfUrl } from '../media/url.ts'

/** Most characters of the text beside a file. */
export const longestCaption = 1024

export const shared = {
  text: text(0, 4096)
    .nullish()
    .describe('The text, 1 to 4096 characters, or the caption of an image, video or document, up to 1024.'),
  mediaUrl: text(0, 2048).nullish().describe('A public http(s) address of the file, at most 2048 characters.'),
  contactId: uuid
    .nullish()
    .describe(
      "The contact to share (type contact), or the contact whose values fill a template. Defaults to the contact of the workspace with the recipient's number, if there is one.",
    ),
}

/** The address alone. {@link checkFile} also compares a file of this gateway with the kind that the type shows. */
export const checkAddress: Rules = ({ mediaUrl }, report, config) => {
  const fault = typeof mediaUrl === 'string' ? checkMediaUrl(mediaUrl, config) : undefined
  if (fault) report(['mediaUrl'], fault)
}

/** `needed`: the kind of files that the type shows, as media/kinds.ts names it; every kind without it. */
export function checkFile(needed?: string): Rules {
  return (value, report, config) => {
    checkAddress(value, report, config)
    const fault = typeof value.mediaUrl === 'string' ? faultOfKind(needed, value.mediaUrl, config) : undefined
    if (fault) report(['mediaUrl'], fault)
  }
}

/** The fault of a file of this gateway that is of another kind than `needed`; undefined for every other address. */
export function faultOfKind(needed: string | undefined, mediaUrl: string, config: Pick<Config, 'publicUrl'>): string | undefined {
  const kind = kindOfUrl(mediaUrl, config)
  return kind && needed && kind !== needed ? `must be ${needed}, but the file is ${kind}` : undefined
}

/** The fault of a media address of this gateway without a file behind it. */
export const withoutFile = 'must lead to a file that is stored here; this one does not exist, or was deleted'

/** A text has no file. */
export const refuseFile: Rules = ({ mediaUrl }, report) => {
  if (mediaUrl) report(['mediaUrl'], 'cannot be given with type text')
}

export const checkCaption: Rules = ({ text: caption }, report) => {
  if (typeof caption === 'string' && isLonger(caption, longestCaption)) {
    report(['text'], `must have at most ${longestCaption} characters as a caption`)
  }
}

export const button = z
  .object({
    type: z.literal('reply', { error: 'must be reply' }).describe('Always `reply`.'),
    displayText: text(1, 20).describe('The label of the button, 1 to 20 characters.'),
    id: text(1, 256).describe('The id that a reply contains, 1 to 256 characters, unique in the message.'),
  })
  .meta({ id: 'ButtonInput', description: 'A quick-reply button.' })

export const checkButtons: Rules = ({ buttons }, report) => {
  if (!Array.isArray(buttons)) return
  if (buttons.length < 1 || buttons.length > 3) report(['buttons'], 'must have 1 to 3 items')
  const ids = new Set<unknown>()
  for (const [index, item] of buttons.entries()) {
    const id: unknown = (item as { id?: unknown } | null)?.id
    if (id !== undefined && ids.has(id)) report(['buttons', index, 'id'], 'must be unique in the message')
    ids.add(id)
  }
}
