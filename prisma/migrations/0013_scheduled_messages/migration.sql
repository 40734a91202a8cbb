-- The scheduled messages of an instance by their time, for its safety. Built without a lock on the writers of a large table, for which it has
-- to be the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_scheduled_idx" ON "messages" ("instanceId", "dueAt") WHERE "scheduledAt" IS NOT NULL;
