// Tells Prisma's command line where the models are; the gateway itself applies migrations (src/core/database/migrate.ts).
import { defineConfig } from 'prisma/config'

export default defineConfig({ schema: 'prisma/schema', migrations: { path: 'prisma/migrations' } })
