// Prints the graph and types the REST rows' documents against it (npm run generate).
import type { CodegenConfig } from '@graphql-codegen/cli'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './src/schema.ts'

const config: CodegenConfig = {
  schema: printSchema(lexicographicSortSchema(schema)),
  documents: ['rest-compat/*.ts'],
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/schema.graphql': { plugins: ['schema-ast'] },
    'rest-compat/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        strictScalars: true,
        scalars: { DateTime: { input: 'string', output: 'string' }, JSON: { input: 'unknown', output: 'unknown' } },
      },
    },
  },
}

export default config
