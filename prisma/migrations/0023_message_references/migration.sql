-- The messages with a reference, by it and their time. Built without a lock on the writers of a large table, for which it has to be the only
-- statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_reference_idx" ON "messages" ("reference", "workspaceId", "createdAt", "id") WHERE "reference" IS NOT NULL;
