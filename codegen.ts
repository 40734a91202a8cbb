// Configures `npm run generate`: prints the GraphQL schema, and types the documents of the REST routes, the client example and the console.
import type { CodegenConfig } from '@graphql-codegen/cli'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './src/schema.ts'

const types = {
  useTypeImports: true,
  enumsAsTypes: true,
  strictScalars: true,
  scalars: { DateTime: { input: 'string', output: 'string' }, JSON: { input: 'unknown', output: 'unknown' } },
}

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
    'src/console/web/generated/': {
      documents: ['src/console/web/**/*.graphql'],
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { ...types, documentMode: 'string' },
    },
  },
}

export default config
