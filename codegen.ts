// Configures `npm run generate`: prints the GraphQL schema, and types the documents of the REST routes, the client example and the console.
import { globSync } from 'node:fs'
import path from 'node:path'
import type { CodegenConfig } from '@graphql-codegen/cli'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './src/schema.ts'

const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  strictScalars: true,
  scalars: { DateTime: { input: 'string', output: 'string' }, JSON: { input: 'unknown', output: 'unknown' } },
}

/** The folders of the console that have documents. A page loads only its own, so each folder gets types and texts of its own. */
const consoleFolders = [
  ...new Set(globSync('src/console/web/*/*.graphql').map((file) => path.basename(path.dirname(file)))),
].sort()

const typesOfFolder = (folder: string) => ({
  documents: [`src/console/web/${folder}/*.graphql`, 'src/console/web/graph/fragments.graphql'],
  preset: 'client',
  presetConfig: { fragmentMasking: false },
  // The bundle of a page leaves out the documents that it does not use.
  config: { ...types, documentMode: 'string' as const, pureMagicComment: true },
})

const config: CodegenConfig = {
  schema: printSchema(lexicographicSortSchema(schema)),
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/schema.graphql': { plugins: ['schema-ast'] },
    'rest-compat/generated/': {
      documents: ['rest-compat/**/*.ts', '!rest-compat/generated/**'],
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: types,
    },
    'test/client/generated/': {
      documents: ['test/client/*.ts'],
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      // Documents as strings, so that a browser needs no GraphQL library.
      config: { ...types, documentMode: 'string' },
    },
    ...Object.fromEntries(consoleFolders.map((folder) => [`src/console/web/generated/${folder}/`, typesOfFolder(folder)])),
  },
}

export default config
