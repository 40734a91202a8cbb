// The public addresses of media: made here, read here, and known again where a caller gives one as `mediaUrl`.
import { randomBytes } from 'node:crypto'
import type { Config } from '../core/config/config.ts'
import { checkTarget, serverOf } from '../core/network/address.ts'
import { extensions, mediaTypes } from './kinds.ts'

/** 256 bits, in the 43 characters that an address may hold as they are. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

const nameForm = /^([A-Za-z0-9_-]{43})\.([a-z0-9]{3,4})$/

/** What stands behind `/media/`, in its parts; undefined for what is no name of ours. */
export function readName(name: string): { token: string; extension: string } | undefined {
  const [, token, extension] = nameForm.exec(name) ?? []
  return token && extension && extensions.has(extension) ? { token, extension } : undefined
}

/** The address of a file, which needs no key and cannot be guessed. */
export function urlOf({ publicUrl = '' }: Pick<Config, 'publicUrl'>, media: { token: string; mimeType: string }): string {
  return `${prefixOf(publicUrl)}${media.token}.${mediaTypes.get(media.mimeType)?.extension}`
}

function prefixOf(publicUrl: string): string {
  return `${publicUrl}/media/`
}

/**
 * Judges the address that a caller gives for a file: public, or one of ours wherever this gateway is, exactly as it was given
 * out; nothing else of our media. Answers what it must be, in words that follow a field's name, or undefined where nothing is wrong.
 */
export function checkMediaUrl(url: string, config: Pick<Config, 'publicUrl' | 'allowedPrivateTargets'>): string | undefined {
  const prefix = config.publicUrl && prefixOf(config.publicUrl)
  if (prefix && url.startsWith(prefix) && readName(url.slice(prefix.length))) return undefined
  const fault = checkTarget(url, config.allowedPrivateTargets, 'media')
  if (fault || !prefix) return fault
  return isBelow(new URL(url), new URL(prefix)) ? 'must be written as the upload was answered' : undefined
}

/** Whether a URL leads below another, however its host and path are spelled. */
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
