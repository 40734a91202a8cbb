-- The endpoints of a workspace that are not deleted. A deleted one stays for 30 days, and one person can make and delete 2 million in a day. The
-- relay, which serves all workspaces, read all of them for each batch of events.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_endpoints_kept_idx" ON "webhook_endpoints" ("workspaceId", "createdAt")
  WHERE "deletedAt" IS NULL;
