-- The messages that a network has accepted and not reported yet, by number: the event of an earlier one comes before that of a later one. Built
-- without a lock on the writers of a large table, for which it has to be the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_unreported_idx" ON "messages" ("instanceId", "peer") WHERE "status" = 'sending' AND "acceptedAt" IS NOT NULL AND "direction" = 'outbound';
