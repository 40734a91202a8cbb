// Part of `npm run generate`: prints the GraphQL schema, and types the documents of the REST routes, the client example and the console.
// It calls the generator itself, because its command line brings 170 packages.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import { buildSchema, lexicographicSortSchema, parse, printSchema } from 'graphql'
import { schema } from './src/schema.ts'

const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  strictScalars: true,
  scalars: { DateTime: { input: 'string', output: 'string' }, JSON: { input: 'unknown', output: 'unknown' } },
}
const imports = { importExtension: '.ts', emitLegacyCommonJSImports: false } as const
/** Documents as strings, so that a browser needs no GraphQL library. */
const asStrings = { documentMode: 'string' }
/** The bundle of a page leaves out the documents that it does not use. */
const pure = { pureMagicComment: true }

const printed = printSchema(lexicographicSortSchema(schema))
const schemaAst = buildSchema(printed)

/** The operations in a file: a GraphQL file is one, and a source file has one in each call of `graphql`. */
function documentsIn(file: string) {
  const text = readFileSync(file, 'utf8')
  const found = file.endsWith('.graphql')
    ? [text]
    : [...text.matchAll(/\bgraphql\(`([^`]*)`\)/g)].map(([, document = '']) => document)
  return found.map((rawSDL) => ({ location: path.resolve(file), rawSDL, document: parse(rawSDL) }))
}

async function typeDocuments(folder: string, patterns: readonly string[], config: object): Promise<void> {
  const outputs = await preset.buildGeneratesSection({
    baseOutputDir: folder,
    presetConfig: { fragmentMasking: false },
    plugins: [],
    schema: parse(printed),
    schemaAst,
    documents: globSync(patterns).sort().flatMap(documentsIn),
    config: { ...types, ...imports, ...config },
    pluginMap: {},
    pluginContext: {},
    documentTransforms: [],
  })
  for (const output of outputs) write(output.filename, await codegen({ ...output, ...imports }))
}

/** An unchanged file keeps its time. */
function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  if (!globSync(file).length || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}

write('src/schema.graphql', printed)
await typeDocuments('rest-compat/generated/', ['rest-compat/*.ts'], {})
await typeDocuments('test/client/generated/', ['test/client/*.ts'], asStrings)
// A page of the console loads only its own documents, so each folder gets types and texts of its own.
const pages = new Set(globSync('src/console/web/*/*.graphql').map((file) => path.basename(path.dirname(file))))
for (const page of pages) {
  const documents = [`src/console/web/${page}/*.graphql`, 'src/console/web/graph/fragments.graphql']
  await typeDocuments(`src/console/web/generated/${page}/`, documents, { ...asStrings, ...pure })
}
