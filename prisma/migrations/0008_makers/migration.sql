-- AlterTable
ALTER TABLE "team_invitations" ADD COLUMN     "inviterId" UUID;

-- AlterTable
ALTER TABLE "webhook_endpoints" ADD COLUMN     "approvedById" UUID,
ADD COLUMN     "createdById" UUID;

-- CreateIndex
CREATE INDEX "team_invitations_inviterId_idx" ON "team_invitations"("inviterId");

-- CreateIndex
CREATE INDEX "webhook_endpoints_createdById_idx" ON "webhook_endpoints"("createdById");

-- CreateIndex
CREATE INDEX "webhook_endpoints_approvedById_idx" ON "webhook_endpoints"("approvedById");

-- AddForeignKey
ALTER TABLE "team_invitations" ADD CONSTRAINT "team_invitations_inviterId_fkey" FOREIGN KEY ("inviterId") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_createdById_fkey" FOREIGN KEY ("createdById") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_approvedById_fkey" FOREIGN KEY ("approvedById") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Nothing tells who made the endpoints that exist, so the owner of their workspace answers for them.
UPDATE "webhook_endpoints" e SET "createdById" = w."ownerId", "approvedById" = w."ownerId"
FROM "workspaces" w WHERE w."id" = e."workspaceId";
