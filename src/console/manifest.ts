// The manifest of a build: the hash of its inputs, and the sizes of its files. The build writes it; the server and the tests read it.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface BuiltFile {
  /** Bytes as they are, and compressed by each encoding. */
  plain: number
  gzip: number
  brotli: number
}

export interface Manifest {
  /** SHA-256 of everything that the build reads. */
  inputs: string
  /** The files of `assets/` by name. */
  assets: Record<string, BuiltFile>
  /** The scripts and styles that the first page loads: those of the shell and what they import statically. */
  first: string[]
  /** The files that each lazily loaded page adds, by its source file. */
  pages: Record<string, string[]>
}

/** The folder that the build writes. */
export const builtFolder = path.join(import.meta.dirname, 'dist')

/** Returns the manifest of the last build; undefined if there is none. */
export function readManifest(): Manifest | undefined {
  const file = path.join(builtFolder, 'manifest.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined
}
