-- AlterTable
ALTER TABLE "campaign_recipients" ADD COLUMN     "reference" TEXT;
