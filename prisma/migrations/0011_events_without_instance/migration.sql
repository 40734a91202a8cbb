-- AlterTable
ALTER TABLE "outbox" ALTER COLUMN "instanceId" DROP NOT NULL;

-- AlterTable
ALTER TABLE "events" ALTER COLUMN "instanceId" DROP NOT NULL;
