// The imports of all sources, for the tests of the architecture.
import { importsOf, type Source, sourcesOf } from './sources.ts'

export const files = sourcesOf('src', 'rest-compat')

/** The module of a file: a folder of src, `rest-compat`, or `top` for the files directly in src. */
export function folderOf(path: string): string {
  const [first, second, third] = path.split('/') as [string, string, string | undefined]
  if (first !== 'src') return first
  return third === undefined ? 'top' : second
}

export function imports(from: (folder: string) => boolean): { source: Source; target: string; to: string }[] {
  return files
    .filter(({ path }) => from(folderOf(path)))
    .flatMap((source) =>
      importsOf(source).map((target) => ({ source, target, to: target.includes('.ts') ? folderOf(target) : 'package' })),
    )
}

/** The imports that break a rule, as readable lines for the failure message. */
export function broken(list: { source: Source; target: string }[]): string[] {
  return list.map(({ source, target }) => `${source.path} imports ${target}`)
}
