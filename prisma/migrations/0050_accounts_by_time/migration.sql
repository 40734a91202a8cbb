-- For the list of all accounts, newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_createdAt_id_idx" ON "users" ("createdAt", "id");
