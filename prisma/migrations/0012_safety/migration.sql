-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "acceptedAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "cold" BOOLEAN,
ADD COLUMN     "handedAt" TIMESTAMPTZ(3);
