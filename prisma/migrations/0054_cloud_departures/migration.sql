-- An instance may leave several business accounts before the webhooks of the first one have ended.
ALTER TABLE "cloud_departures" DROP CONSTRAINT "cloud_departures_pkey",
  ADD COLUMN "dueAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ADD CONSTRAINT "cloud_departures_pkey" PRIMARY KEY ("instanceId", "businessAccountId");
