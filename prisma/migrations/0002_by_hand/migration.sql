-- What the Prisma schema cannot say.

-- A crash forgets one second of rate history and spares every request a WAL record.
ALTER TABLE "rate_windows" SET UNLOGGED;

-- The one row that event numbers are taken from.
INSERT INTO "event_sequence" ("id", "last") VALUES (1, 0);

-- The messages on their way, in the order in which each recipient must get them.
CREATE INDEX "messages_open_idx" ON "messages" ("instanceId", "peer", "dueAt", "id")
  WHERE "status" IN ('queued', 'sending') AND "acceptedAt" IS NULL AND "direction" = 'outbound';

-- The deliveries that are not done, by endpoint and when they are due.
CREATE INDEX "webhook_deliveries_open_idx" ON "webhook_deliveries" ("endpointId", "nextAttemptAt")
  WHERE "nextAttemptAt" IS NOT NULL;

-- Messages and instances are never deleted, and checking each event against them costs the relay a third of its speed,
-- locks their rows against the very receipts that follow, and would let one bad row in the outbox stop the log.
ALTER TABLE "events" DROP CONSTRAINT "events_messageId_fkey";
ALTER TABLE "events" DROP CONSTRAINT "events_instanceId_fkey";
