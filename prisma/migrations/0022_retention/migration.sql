-- AlterEnum
ALTER TYPE "recipient_status" ADD VALUE 'sent';
ALTER TYPE "recipient_status" ADD VALUE 'delivered';
ALTER TYPE "recipient_status" ADD VALUE 'read';

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "endedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "retention_settings" (
    "workspaceId" UUID NOT NULL,
    "messagesDays" DOUBLE PRECISION NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "retention_settings_pkey" PRIMARY KEY ("workspaceId")
);

-- AddForeignKey
ALTER TABLE "retention_settings" ADD CONSTRAINT "retention_settings_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
