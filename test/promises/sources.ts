// The files that the promises about the house are about: which there are, what they hold, what they import.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../kit/kit.ts'

export interface Source {
  /** From the root, with slashes: `src/core/app.ts`. */
  path: string
  text: string
  lines: number
}

/** What is written by hand, or kept by git at least. */
const apart = new Set(['node_modules', 'generated', '.git', '.data'])

/** All files below a folder of the root, without what tools generate; `.` is the root's own files. */
export function filesOf(folder: string): string[] {
  const deep = folder !== '.'
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true })
  return entries
    .flatMap((entry) => {
      const name = deep ? `${folder}/${entry.name}` : entry.name
      if (entry.isFile()) return [name]
      return deep && !apart.has(entry.name) ? filesOf(name) : []
    })
    .sort()
}

/** The TypeScript below these folders. */
export function sourcesOf(...folders: string[]): Source[] {
  const names = folders.flatMap(filesOf).filter((name) => name.endsWith('.ts'))
  return names.map((name) => {
    const text = readFileSync(path.join(root, name), 'utf8')
    return { path: name, text, lines: text.trimEnd().split('\n').length }
  })
}

/** `import … from`, `export … from` and `import '…'` begin a line; `import('…')` stands anywhere. Types count. */
const statements = /^(?:import|export)\b[^'"`;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm

/** What a file imports: a file of this house by its path from the root, anything else by the name of its package. */
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
