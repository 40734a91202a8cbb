-- For Meta's Cloud API: its view of an account, uploaded files, and the business accounts of numbers that were logged out.
ALTER TABLE "instances" ADD COLUMN "atRiskAt" TIMESTAMPTZ(3), ADD COLUMN "dailyRecipients" INTEGER, ADD COLUMN "healthReadAt" TIMESTAMPTZ(3);

CREATE TABLE "cloud_media" (
  "phoneNumberId" TEXT NOT NULL,
  "mediaId" UUID NOT NULL,
  "graphId" TEXT,
  "token" UUID NOT NULL,
  "leaseUntil" TIMESTAMPTZ(3) NOT NULL,
  "uploadedAt" TIMESTAMPTZ(3),
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "cloud_media_pkey" PRIMARY KEY ("phoneNumberId", "mediaId")
);
CREATE INDEX "cloud_media_createdAt_idx" ON "cloud_media" ("createdAt");

CREATE TABLE "cloud_departures" (
  "instanceId" UUID NOT NULL,
  "businessAccountId" TEXT NOT NULL,
  "accessToken" BYTEA NOT NULL,
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "cloud_departures_pkey" PRIMARY KEY ("instanceId")
);
