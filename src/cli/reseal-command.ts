// The operator's command `reseal`.
import { type Command, CommanderError } from 'commander'
import { migrate } from '../core/database/migrate.ts'
import { withPool } from '../core/database/short-pool.ts'
import { jsonLine, oneLine } from '../core/one-line.ts'
import { openDatabase } from './command-database.ts'
import { json } from './command-parts.ts'

export function addResealCommand(gateway: Command): void {
  gateway
    .command('reseal')
    .description('encrypt everything stored under SECRET_KEY_PREVIOUS with SECRET_KEY; may be ended and run again')
    .addOption(json())
    .action(async (options: { json?: true }) => {
      // Loaded only here: the other commands do not need these modules.
      const { reseal } = await import('./reseal.ts')
      await using database = await openDatabase()
      await migrate(database.directUrl, console.error)
      const keys = { secretKey: database.secretKey, previous: database.secrets.previousSecretKey }
      const sum = await withPool(database.directUrl, { max: 1 }, (pool) =>
        reseal(pool, keys, {
          progress: ({ table, column }, { resealed, current }) => {
            if (process.stderr.isTTY)
              console.error(`${table}.${column}: ${resealed} resealed, ${current} under SECRET_KEY before`)
          },
        }),
      )
      for (const { table, column, id } of sum.unreadable)
        console.error(oneLine(`${table}.${column} ${id}: neither SECRET_KEY nor SECRET_KEY_PREVIOUS decrypts it`))
      const { unreadableCount } = sum
      if (options.json) console.log(jsonLine(sum))
      else console.log(`${sum.resealed} resealed, ${sum.current} under SECRET_KEY before, ${unreadableCount} unreadable`)
      if (unreadableCount > 0) throw new CommanderError(1, 'gateway.reseal', 'neither key decrypts some values')
    })
}
