-- The messages with a file, by its address: an erasure asks if anything else uses the file. Hash, because an address may be too long for a B-tree.
-- Built without a lock on the writers of a large table, for which it has to be the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_media_idx" ON "messages" USING hash ("mediaUrl") WHERE "mediaUrl" IS NOT NULL;
