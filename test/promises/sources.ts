// Lists the source files of this repository, their contents and their imports, for the tests of code structure.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../kit/environment.ts'

export interface Source {
  /** The path from the root, with slashes: `src/core/app.ts`. */
  path: string
  text: string
  lines: number
}

/** Folders that are not written by hand or not tracked by git. */
const apart = new Set(['node_modules', 'generated', 'dist', '.git', '.data'])

/** All files below a folder of the root, except generated ones; `.` means the files directly in the root. */
export function filesOf(folder: string): string[] {
  const deep = folder !== '.'
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true })
  return entries
    .flatMap((entry) => {
      const name = deep ? `${folder}/${entry.name}` : entry.name
      if (entry.isFile()) return [name]
      // A link is not followed: what it leads to is listed where it stands.
      return deep && entry.isDirectory() && !apart.has(entry.name) ? filesOf(name) : []
    })
    .sort()
}

/** The TypeScript files below these folders. */
export function sourcesOf(...folders: string[]): Source[] {
  const names = folders.flatMap(filesOf).filter((name) => /\.tsx?$/.test(name))
  return names.map((name) => {
    const text = readFileSync(path.join(root, name), 'utf8')
    return { path: name, text, lines: text.trimEnd().split('\n').length }
  })
}

/** `import … from`, `export … from` and `import '…'` begin a line; `import('…')` may be anywhere. Type imports count. */
const statements = /^(?:import|export)\b[^'"`;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/** The imports of a file: a local file by its path from the root, anything else by the name of its package. */
export function importsOf({ path: from, text }: Source): string[] {
  return [...text.matchAll(statements)].map((match) => {
    const specifier = (match[1] ?? match[2] ?? match[3]) as string
    return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(from), specifier) : packageOf(specifier)
  })
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] as string)
}
