-- CreateEnum
CREATE TYPE "campaign_status" AS ENUM ('scheduled', 'running', 'paused', 'completed', 'cancelled', 'failed');

-- CreateEnum
CREATE TYPE "recipient_status" AS ENUM ('planned', 'enqueued', 'failed', 'cancelled');

-- CreateEnum
CREATE TYPE "bulk_operation" AS ENUM ('add_to_group', 'bulk_delete_contacts');

-- CreateEnum
CREATE TYPE "bulk_status" AS ENUM ('pending', 'processing', 'done', 'failed', 'cancelled');

-- AlterTable
ALTER TABLE "contacts" ALTER COLUMN "tags" SET DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "instances" ALTER COLUMN "disconnections" SET DEFAULT ARRAY[]::TIMESTAMPTZ(3)[];

-- AlterTable
ALTER TABLE "messages" ALTER COLUMN "warnings" SET DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "campaigns" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "userId" UUID NOT NULL,
    "instanceId" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "type" "message_type" NOT NULL,
    "templateId" UUID,
    "body" TEXT NOT NULL,
    "mediaUrl" TEXT,
    "content" JSONB,
    "status" "campaign_status" NOT NULL,
    "error" TEXT,
    "recipientsCount" INTEGER NOT NULL,
    "scheduledFor" TIMESTAMPTZ(3),
    "processingStartedAt" TIMESTAMPTZ(3),
    "lastEnqueuedAt" TIMESTAMPTZ(3),
    "completedAt" TIMESTAMPTZ(3),
    "cancelledAt" TIMESTAMPTZ(3),
    "lastActivityAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "campaigns_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "campaign_recipients" (
    "campaignId" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "to" TEXT NOT NULL,
    "contactId" UUID,
    "body" TEXT,
    "status" "recipient_status" NOT NULL DEFAULT 'planned',
    "error" TEXT,
    "messageId" UUID,

    CONSTRAINT "campaign_recipients_pkey" PRIMARY KEY ("campaignId","position")
);

-- CreateTable
CREATE TABLE "contact_groups" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "membersCount" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contact_groups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "contact_group_members" (
    "groupId" UUID NOT NULL,
    "contactId" UUID NOT NULL,
    "addedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contact_group_members_pkey" PRIMARY KEY ("groupId","contactId")
);

-- CreateTable
CREATE TABLE "bulk_jobs" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "operation" "bulk_operation" NOT NULL,
    "status" "bulk_status" NOT NULL DEFAULT 'pending',
    "groupId" UUID,
    "contactIds" UUID[],
    "requestedCount" INTEGER NOT NULL,
    "processedCount" INTEGER NOT NULL DEFAULT 0,
    "summary" JSONB NOT NULL,
    "error" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completedAt" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "media" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "mimeType" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "storedAt" TIMESTAMPTZ(3),

    CONSTRAINT "media_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "templates" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "type" "message_type" NOT NULL,
    "body" TEXT NOT NULL,
    "mediaUrl" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "templates_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "campaigns_workspaceId_createdAt_id_idx" ON "campaigns"("workspaceId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "campaign_recipients_campaignId_status_position_idx" ON "campaign_recipients"("campaignId", "status", "position");

-- CreateIndex
CREATE INDEX "contact_groups_workspaceId_createdAt_id_idx" ON "contact_groups"("workspaceId", "createdAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "contact_groups_workspaceId_name_key" ON "contact_groups"("workspaceId", "name");

-- CreateIndex
CREATE INDEX "contact_group_members_groupId_addedAt_contactId_idx" ON "contact_group_members"("groupId", "addedAt", "contactId");

-- CreateIndex
CREATE INDEX "contact_group_members_contactId_idx" ON "contact_group_members"("contactId");

-- CreateIndex
CREATE INDEX "bulk_jobs_workspaceId_createdAt_id_idx" ON "bulk_jobs"("workspaceId", "createdAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "media_token_key" ON "media"("token");

-- CreateIndex
CREATE INDEX "media_workspaceId_idx" ON "media"("workspaceId");

-- CreateIndex
CREATE UNIQUE INDEX "templates_workspaceId_name_key" ON "templates"("workspaceId", "name");

-- CreateIndex
CREATE INDEX "contacts_workspaceId_createdAt_id_idx" ON "contacts"("workspaceId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "contacts_workspaceId_name_id_idx" ON "contacts"("workspaceId", "name", "id");

-- CreateIndex
CREATE INDEX "contacts_tags_idx" ON "contacts" USING GIN ("tags");

-- AddForeignKey
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_userId_fkey" FOREIGN KEY ("userId") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "campaign_recipients" ADD CONSTRAINT "campaign_recipients_campaignId_fkey" FOREIGN KEY ("campaignId") REFERENCES "campaigns"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_groups" ADD CONSTRAINT "contact_groups_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_group_members" ADD CONSTRAINT "contact_group_members_groupId_fkey" FOREIGN KEY ("groupId") REFERENCES "contact_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contact_group_members" ADD CONSTRAINT "contact_group_members_contactId_fkey" FOREIGN KEY ("contactId") REFERENCES "contacts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bulk_jobs" ADD CONSTRAINT "bulk_jobs_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "media" ADD CONSTRAINT "media_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_campaignId_fkey" FOREIGN KEY ("campaignId") REFERENCES "campaigns"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "templates" ADD CONSTRAINT "templates_workspaceId_fkey" FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
