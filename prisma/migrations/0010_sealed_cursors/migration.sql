-- AlterTable
ALTER TABLE "event_sequence" ADD COLUMN     "sealedAfter" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "sealedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- What was told in the clear until now.
UPDATE "event_sequence" SET "sealedAfter" = "last";
