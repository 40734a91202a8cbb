-- The messages that wait under one key, in the order in which they are due.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_held_idx" ON "messages" ("heldBy", "dueAt")
  WHERE "heldBy" IS NOT NULL AND "waitingSince" IS NOT NULL AND "status" IN ('queued', 'sending');
