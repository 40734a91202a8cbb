// Rules for uploads: the types that networks accept, the maximum size of each, and the types that a browser may show inline.

const mib = 1024 * 1024

/** Maximum bytes of a whole upload request; the largest files use nearly all of it. */
export const maxUploadBytes = 64 * mib

export interface Kind {
  /** Name in error messages. */
  name: string
  maxBytes: number
  /** True if a browser may show it inline, instead of saving it. */
  inline: boolean
}

export interface MediaType extends Kind {
  mimeType: string
  /** Extension of the public URL, because networks and people read file names. */
  extension: string
}

const image: Kind = { name: 'an image', maxBytes: 5 * mib, inline: true }
const video: Kind = { name: 'a video', maxBytes: 16 * mib, inline: true }
const audio: Kind = { name: 'an audio file', maxBytes: 16 * mib, inline: true }
const document: Kind = { name: 'a document', maxBytes: maxUploadBytes, inline: false }
const openXml = 'application/vnd.openxmlformats-officedocument'

const table: readonly [mimeType: string, extension: string, kind: Kind][] = [
  ['image/jpeg', 'jpg', image],
  ['image/png', 'png', image],
  ['image/webp', 'webp', image],
  ['image/gif', 'gif', image],
  ['video/mp4', 'mp4', video],
  ['video/3gpp', '3gp', video],
  ['audio/mpeg', 'mp3', audio],
  ['audio/mp4', 'm4a', audio],
  ['audio/aac', 'aac', audio],
  ['audio/amr', 'amr', audio],
  ['audio/ogg', 'ogg', audio],
  ['audio/ogg; codecs=opus', 'ogg', audio],
  ['application/pdf', 'pdf', document],
  ['application/msword', 'doc', document],
  ['application/vnd.ms-excel', 'xls', document],
  ['application/vnd.ms-powerpoint', 'ppt', document],
  [`${openXml}.wordprocessingml.document`, 'docx', document],
  [`${openXml}.spreadsheetml.sheet`, 'xlsx', document],
  [`${openXml}.presentationml.presentation`, 'pptx', document],
  ['text/plain', 'txt', document],
]

/** Every accepted type, by MIME type. */
export const mediaTypes: ReadonlyMap<string, MediaType> = new Map(
  table.map(([mimeType, extension, kind]) => [mimeType, { mimeType, extension, ...kind }]),
)

export const extensions: ReadonlySet<string> = new Set(table.map(([, extension]) => extension))
