-- AlterTable
ALTER TABLE "campaign_recipients" ADD COLUMN     "updatedAt" TIMESTAMPTZ(3);
