-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "restingAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "fellAt" TIMESTAMPTZ(3),
ADD COLUMN     "rests" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "suspendedFrom" "subscription_status";

-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "carriedInto" DATE;

-- AlterTable
ALTER TABLE "instances" ADD COLUMN     "restingAt" TIMESTAMPTZ(3);

-- What the sweep of plans looks for every few seconds.
CREATE INDEX "subscriptions_ending_idx" ON "subscriptions" ("currentPeriodEnd") WHERE "status" = 'cancelled';
CREATE INDEX "subscriptions_fit_idx" ON "subscriptions" ("userId") WHERE "fellAt" IS NOT NULL OR "rests";

-- Usage was counted by calendar month. The counts of this month go into the billing periods that began on another day.
WITH "moved" AS (
  SELECT s."userId", (s."currentPeriodStart" AT TIME ZONE 'utc')::date AS "into", date_trunc('month', now() AT TIME ZONE 'utc')::date AS "from"
  FROM "subscriptions" s
  WHERE s."plan" <> 'free' AND (s."status" = 'cancelled' OR s."provider" = 'stripe' OR s."currentPeriodEnd" > now())
), "requests" AS (
  INSERT INTO "api_usage" ("userId", "period", "apiRequestsCount")
  SELECT a."userId", m."into", a."apiRequestsCount" FROM "api_usage" a JOIN "moved" m ON m."userId" = a."userId" AND m."from" = a."period"
  WHERE m."into" <> m."from" ON CONFLICT DO NOTHING
), "carried" AS (
  UPDATE "usage" u SET "carriedInto" = m."into" FROM "moved" m
  WHERE m."userId" = u."userId" AND m."from" = u."period" AND m."into" <> m."from" RETURNING u.*
)
INSERT INTO "usage" ("userId", "period", "messagesCount", "statusesCount", "plannedCount")
SELECT "userId", "carriedInto", "messagesCount", "statusesCount", "plannedCount" FROM "carried" ON CONFLICT DO NOTHING;
