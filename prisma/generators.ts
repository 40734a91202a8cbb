// Part of `npm run generate`: writes the Prisma client and the types of Pothos, as prisma/schema/base.prisma says.
// It calls the generators itself, because the Prisma CLI installs 150 MB for its other commands.
import { createRequire } from 'node:module'
import path from 'node:path'
import type * as ClientGenerator from '@prisma/client-generator-ts'
import type * as Internals from '@prisma/internals'

// Node cannot import the ES modules of the first package, and finds no names in the second.
const require = createRequire(import.meta.url)
const { PrismaClientTsGenerator }: typeof ClientGenerator = require('@prisma/client-generator-ts')
const { getGenerators, loadSchemaContext }: typeof Internals = require('@prisma/internals')

const schemaPath = { cliProvidedPath: path.join(import.meta.dirname, 'schema') }
const generators = await getGenerators({
  schemaContext: await loadSchemaContext({ schemaPath, printLoadMessage: false }),
  registry: { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } },
  skipDownload: true,
  cliCommand: 'prisma generate',
})
for (const generator of generators) {
  await generator.generate()
  generator.stop()
}
