// Tells the Prisma CLI where the models are. The gateway applies migrations itself (src/core/database/migrate.ts).
import { defineConfig } from 'prisma/config'

export default defineConfig({ schema: 'prisma/schema', migrations: { path: 'prisma/migrations' } })
