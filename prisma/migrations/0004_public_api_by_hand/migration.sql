-- What the Prisma schema cannot say of 0003.

-- The messages of a contact and of a campaign. Most have neither, and pay nothing. How far a campaign is, is counted from
-- the second of its indexes alone.
CREATE INDEX "messages_contact_idx" ON "messages" ("contactId", "createdAt", "id") WHERE "contactId" IS NOT NULL;
CREATE INDEX "messages_campaign_idx" ON "messages" ("campaignId", "createdAt", "id") WHERE "campaignId" IS NOT NULL;
CREATE INDEX "messages_campaign_status_idx" ON "messages" ("campaignId", "status", "updatedAt") WHERE "campaignId" IS NOT NULL;

-- The uploads that did not come to their end, or have not yet.
CREATE INDEX "media_unfinished_idx" ON "media" ("createdAt") WHERE "storedAt" IS NULL;

-- What contacts are searched by: name, number and e-mail address, a line each, without their case. Twice folded, because two
-- small letters can share a capital (the Greek sigma has two).
ALTER TABLE "contacts" ADD COLUMN "searchText" TEXT NOT NULL
  GENERATED ALWAYS AS (lower(upper("name" || E'\n' || "phone" || E'\n' || coalesce("email", '')))) STORED;

-- Finds what is rare by groups of three letters. Without the extension, or the right to add it, a search reads the workspace.
-- Scripts are cut at semicolons before they run, so those inside the block are written as \x3b.
DO E'BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm\x3b
  CREATE INDEX "contacts_searchText_idx" ON "contacts" USING GIN ("searchText" gin_trgm_ops)\x3b
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_file THEN
  RAISE NOTICE \'contacts are searched without an index: %\', SQLERRM\x3b
END';
