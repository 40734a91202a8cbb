// Tells editors and `npx prisma` where the models are. The Prisma CLI is not installed, because the gateway needs none: it generates its
// client by prisma/generators.ts, and applies migrations by src/core/database/migrate.ts.
export default { schema: 'prisma/schema', migrations: { path: 'prisma/migrations' } }
