-- What the Prisma schema cannot say of 0003.

-- The messages of a contact and of a campaign. Most have neither, and pay nothing.
CREATE INDEX "messages_contact_idx" ON "messages" ("contactId", "createdAt", "id") WHERE "contactId" IS NOT NULL;
CREATE INDEX "messages_campaign_idx" ON "messages" ("campaignId", "status") WHERE "campaignId" IS NOT NULL;
