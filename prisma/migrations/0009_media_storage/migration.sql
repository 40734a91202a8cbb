-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "plannedCount" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "media" ADD COLUMN     "removedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "media_usage" (
    "workspaceId" UUID NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "files" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "media_usage_pkey" PRIMARY KEY ("workspaceId")
);

-- AddForeignKey
ALTER TABLE "media_usage" ADD CONSTRAINT "media_usage_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the Prisma schema cannot say: the sums follow the rows of media, also of processes that do not know of them yet.
-- Scripts are cut at semicolons before they run, so those inside the function are written as \x3b.
CREATE FUNCTION "count_media"() RETURNS trigger LANGUAGE plpgsql AS E'BEGIN
  IF TG_OP = \'INSERT\' THEN
    INSERT INTO media_usage AS u ("workspaceId", bytes, files)
      SELECT "workspaceId", sum(size), count(*) FROM changed GROUP BY "workspaceId" ORDER BY "workspaceId"
      ON CONFLICT ("workspaceId") DO UPDATE SET bytes = u.bytes + excluded.bytes, files = u.files + excluded.files\x3b
  ELSE
    UPDATE media_usage u SET bytes = u.bytes - c.bytes, files = u.files - c.files
      FROM (SELECT "workspaceId", sum(size) AS bytes, count(*) AS files FROM changed GROUP BY "workspaceId") c
      WHERE u."workspaceId" = c."workspaceId"\x3b
  END IF\x3b
  RETURN NULL\x3b
END';
CREATE TRIGGER "media_added" AFTER INSERT ON "media" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_media"();
CREATE TRIGGER "media_removed" AFTER DELETE ON "media" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_media"();

-- What is there by now. Making the triggers has locked the table against writers until this commits.
INSERT INTO "media_usage" ("workspaceId", "bytes", "files")
  SELECT "workspaceId", sum("size"), count(*) FROM "media" GROUP BY "workspaceId";

-- Bulk jobs that have not ended, of which a workspace has so many at most.
CREATE INDEX "bulk_jobs_open_idx" ON "bulk_jobs" ("workspaceId") WHERE "completedAt" IS NULL;
