// Variables whose value is in a file, as containers and systemd hand out secrets: `NAME_FILE` names the file with the value of `NAME`.
import { readFileSync } from 'node:fs'

type Values = Readonly<Record<string, string | undefined>>

/** The values of the variables, those of their files among them, without white space around them; and what is wrong with the files. */
export function readFiles(given: Values, names: readonly string[]): { values: Values; faults: string[] } {
  const values = { ...given }
  const faults: string[] = []
  for (const name of names) {
    const file = given[`${name}_FILE`]
    if (file === undefined) continue
    const value = given[name] === undefined ? contentOf(file) : new Error(`must not be set together with ${name}`)
    if (typeof value === 'string') values[name] = value
    else faults.push(`${name}_FILE: ${value.message}`)
  }
  return { values, faults }
}

function contentOf(file: string): string | Error {
  try {
    return readFileSync(file, 'utf8').trim() || new Error('names an empty file')
  } catch (error) {
    return new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
