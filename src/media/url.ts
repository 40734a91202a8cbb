// Public URLs of media: made, parsed, and recognized when a caller passes one as `mediaUrl`.
import { randomBytes } from 'node:crypto'
import type { Config } from '../core/config/config.ts'
import { checkTarget, serverOf } from '../core/network/address.ts'
import { extensions, mediaTypes } from './kinds.ts'

/** 256 random bits in 43 characters that need no escaping in a URL. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

const nameForm = /^([A-Za-z0-9_-]{43})\.([a-z0-9]{3,4})$/

/** Parses the part of a URL after `/media/`; undefined for anything that this gateway does not issue. */
export function readName(name: string): { token: string; extension: string } | undefined {
  const [, token, extension] = nameForm.exec(name) ?? []
  return token && extension && extensions.has(extension) ? { token, extension } : undefined
}

/** The public URL of a file, which needs no credential and cannot be guessed. */
export function urlOf({ publicUrl = '' }: Pick<Config, 'publicUrl'>, media: { token: string; mimeType: string }): string {
  return `${prefixOf(publicUrl)}${media.token}.${mediaTypes.get(media.mimeType)?.extension}`
}

function prefixOf(publicUrl: string): string {
  return `${publicUrl}/media/`
}

/**
 * Checks a URL that a caller gives for a file. It must be public, or a media URL of this gateway exactly as issued, public or not.
 * Other spellings of this gateway's media URLs are refused. Returns what it must be, as words that follow a field's name, or undefined
 * if it is valid.
 */
export function checkMediaUrl(url: string, config: Pick<Config, 'publicUrl' | 'allowedPrivateTargets'>): string | undefined {
  const prefix = config.publicUrl && prefixOf(config.publicUrl)
  if (nameIn(url, config)) return undefined
  const fault = checkTarget(url, config.allowedPrivateTargets, 'media')
  if (fault || !prefix) return fault
  return isBelow(new URL(url), new URL(prefix)) ? 'must be exactly the address that the upload returned' : undefined
}

/** The part after `/media/` of an address that this gateway could have issued; undefined for every other address. */
export function nameIn(url: string, { publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  const prefix = publicUrl && prefixOf(publicUrl)
  if (!prefix || !url.startsWith(prefix)) return undefined
  const name = url.slice(prefix.length)
  return readName(name) && name
}

/** The kind of file, as {@link Kind} names it, that a media address of this gateway leads to, by its extension. */
export function kindOfUrl(url: string, config: Pick<Config, 'publicUrl'>): string | undefined {
  const extension = readName(nameIn(url, config) ?? '')?.extension
  return [...mediaTypes.values()].find((type) => type.extension === extension)?.name
}

/** True if a URL lies below another, however host and path are spelled. */
function isBelow(url: URL, base: URL): boolean {
  return serverOf(url) === serverOf(base) && plainPath(url).startsWith(plainPath(base))
}

function plainPath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
