// Prisma's schema engine as WebAssembly, which compares models: no download, no binary.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import type * as Bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg'
import type pg from 'pg'
import { schemaFiles } from '../core/database/prisma-files.ts'

/** Excludes nothing in the database from a comparison. */
export const filters = { externalTables: [], externalEnums: [] }

/** Opens an engine on that database; `using` frees it. */
export async function openEngine(pool: pg.Pool): Promise<SchemaEngine> {
  bindings ??= loadEngine()
  const { files } = await schemaFiles()
  return await (await bindings).SchemaEngine.new(
    { datamodels: files.map((schema) => [schema.path, schema.content]) },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)),
  )
}

/** The part of the API that is used here; TypeScript declares it only in the browser's library. */
declare const WebAssembly: {
  compile: (bytes: Uint8Array) => Promise<object>
  instantiate: (module: object, imports: object) => Promise<{ exports: Record<string, unknown> }>
}

/** One per process: the package keeps views on the memory of the first instance that it was given. */
let bindings: Promise<typeof Bindings> | undefined

async function loadEngine(): Promise<typeof Bindings> {
  // The package's own entry imports the module as ESM, which Node 24 does with a warning; instantiating it has the same effect without one.
  const loaded = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const file = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm')
  const module = await WebAssembly.compile(await readFile(file))
  // The engine never clears the timer of its lock timeout, which would keep the process alive for 10 s.
  const patient = (run: () => void, ms: number) => setTimeout(run, ms).unref()
  const imports = Object.entries(loaded).map(([name, value]) => [name, name.startsWith('__wbg_setTimeout_') ? patient : value])
  const instance = await WebAssembly.instantiate(module, { './schema_engine_bg.js': Object.fromEntries(imports) })
  loaded.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  return loaded
}
