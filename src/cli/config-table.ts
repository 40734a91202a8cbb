// Prints the configuration table (`gateway config`): one row for each variable, from the schema that the code reads.
import type { z } from 'zod'
import { environment } from '../core/config/environment.ts'

/** Markdown, without a line break at the end. */
export function configTable(): string {
  const rows = Object.entries(environment.shape).map(([name, type]) => {
    const { description = '' } = type
    return `| \`${name}\` | ${defaultOf(type)} | ${description} |`
  })
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

/** The default as written in the environment; empty if there is none. */
function defaultOf(type: z.ZodType): string {
  const { defaultValue } = type.def as { defaultValue?: unknown }
  const text = typeof defaultValue === 'boolean' ? String(Number(defaultValue)) : String(defaultValue ?? '')
  return text && `\`${text}\``
}
