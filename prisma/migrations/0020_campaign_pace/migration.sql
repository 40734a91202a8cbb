-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "defaultRate" INTEGER,
ADD COLUMN     "nextAt" TIMESTAMPTZ(3),
ADD COLUMN     "quietHours" JSONB,
ADD COLUMN     "ratePerMinute" INTEGER;
