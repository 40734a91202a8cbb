-- CreateEnum
CREATE TYPE "suppression_reason" AS ENUM ('manual', 'keyword', 'network');

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "ignoresSuppression" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "reference" TEXT;

-- CreateTable
CREATE TABLE "suppressions" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "phone" TEXT NOT NULL,
    "reason" "suppression_reason" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "suppressions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "suppression_settings" (
    "workspaceId" UUID NOT NULL,
    "keywords" TEXT[],
    "reply" TEXT,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "suppression_settings_pkey" PRIMARY KEY ("workspaceId")
);

-- CreateIndex
CREATE INDEX "suppressions_workspaceId_createdAt_id_idx" ON "suppressions"("workspaceId", "createdAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "suppressions_workspaceId_phone_key" ON "suppressions"("workspaceId", "phone");

-- AddForeignKey
ALTER TABLE "suppressions" ADD CONSTRAINT "suppressions_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "suppression_settings" ADD CONSTRAINT "suppression_settings_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
