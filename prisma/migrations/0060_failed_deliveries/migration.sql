-- The deliveries that failed for good, of each endpoint and in the order of its list. Without it, a page of them read every delivery of the
-- endpoint: 30 days of successes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_deliveries_failed_idx" ON "webhook_deliveries" ("endpointId", "createdAt", "id")
  WHERE "status" = 'failed';
