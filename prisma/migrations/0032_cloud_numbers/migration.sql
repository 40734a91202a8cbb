-- One instance of a workspace for each number. Also finds the instance of a number. Built without a lock on the
-- writers of the table, for which it has to be the only statement.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "instances_cloud_number_idx" ON "instances" ("workspaceId", (settings->>'phoneNumberId'))
  WHERE provider = 'cloud' AND "deletedAt" IS NULL;
