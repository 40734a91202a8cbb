-- Each attempt of a webhook delivery by itself, and jobs that redeliver many deliveries.
CREATE TABLE "webhook_attempts" (
    "deliveryId" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "endpointId" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "durationMs" INTEGER NOT NULL,
    "responseCode" INTEGER,
    "error" TEXT,
    "answer" TEXT,
    "headers" JSON,
    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("deliveryId", "attempt")
);
CREATE INDEX "webhook_attempts_endpointId_at_idx" ON "webhook_attempts"("endpointId", "at");
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_deliveryId_fkey"
  FOREIGN KEY ("deliveryId") REFERENCES "webhook_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TYPE "redelivery_status" AS ENUM ('pending', 'processing', 'done', 'failed');
CREATE TABLE "webhook_redeliveries" (
    "id" UUID NOT NULL,
    "workspaceId" UUID NOT NULL,
    "endpointId" UUID NOT NULL,
    "of" "delivery_status" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "status" "redelivery_status" NOT NULL DEFAULT 'pending',
    "requestedCount" INTEGER NOT NULL DEFAULT 0,
    "processedCount" INTEGER NOT NULL DEFAULT 0,
    "afterTime" TIMESTAMPTZ(3),
    "afterId" UUID,
    "error" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completedAt" TIMESTAMPTZ(3),
    CONSTRAINT "webhook_redeliveries_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_redeliveries_endpointId_createdAt_idx" ON "webhook_redeliveries"("endpointId", "createdAt");
CREATE INDEX "webhook_redeliveries_workspaceId_idx" ON "webhook_redeliveries"("workspaceId");
CREATE INDEX "webhook_redeliveries_completedAt_idx" ON "webhook_redeliveries"("completedAt");
ALTER TABLE "webhook_redeliveries" ADD CONSTRAINT "webhook_redeliveries_workspaceId_fkey"
  FOREIGN KEY ("workspaceId") REFERENCES "workspaces"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_redeliveries" ADD CONSTRAINT "webhook_redeliveries_endpointId_fkey"
  FOREIGN KEY ("endpointId") REFERENCES "webhook_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;
