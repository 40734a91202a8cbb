-- The messages of a workspace that failed or were cancelled, in the order of their time, for lists of them. Built without a lock on the writers of
-- a large table, for which it has to be the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_failed_idx" ON "messages" ("workspaceId", "createdAt", "id") WHERE "status" IN ('failed', 'cancelled');
