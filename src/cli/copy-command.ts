// The operator's command `copy-database`.
import path from 'node:path'
import type { Command } from 'commander'
import { database as databaseUrl } from '../core/config/urls.ts'
import { type Installation, openDatabase } from './command-database.ts'

export function addCopyCommand(gateway: Command): void {
  gateway
    .command('copy-database <url>')
    .description(
      'copy everything from the configured database into the empty one at URL (PostgreSQL 15 or newer), while no gateway runs; PGPASSWORD and ~/.pgpass can hold its password',
    )
    .action(async (given: string) => {
      const url = databaseUrl.safeParse(given)
      if (!url.success) throw new Error(`URL: ${url.error.issues[0]?.message}`)
      // Loaded only here: the other commands do not need these modules.
      const { copyDatabase } = await import('./copy-database.ts')
      await using installation = await openDatabase()
      const { tables, rows } = await copyDatabase({ from: installation.directUrl, to: url.data, say: console.error })
      console.log(`copied ${rows} rows of ${tables} tables, and counted them`)
      for (const line of nextSteps(installation)) console.log(line)
    })
}

/** The variables that lead every process to the target, as far as they change. */
function nextSteps({ config, secrets }: Pick<Installation, 'config' | 'secrets'>): string[] {
  const lines = ['Set for every process:', '  DATABASE_URL to the URL of this command']
  if (config.databaseDirectUrl) lines.push('  DATABASE_DIRECT_URL to the same database without a pooler, or not at all')
  if (!secrets.secretKey)
    lines.push(`  SECRET_KEY_FILE=${path.resolve(config.dataDir, 'secret-key')}, or SECRET_KEY to its content`)
  if (!config.databaseUrl) {
    lines.push(
      `  SIGNUP=${config.signUp} and DEMO=${Number(config.demo)} to keep the present settings: their defaults differ with DATABASE_URL`,
    )
  }
  const files = config.mediaStore === 'disk' ? '; DATA_DIR has the uploaded files' : ''
  lines.push(`The other variables stay as they are${files}.`)
  lines.push('Start no gateway on the database that was copied: it would send again what waits there.')
  return lines
}
