-- What became of the messages of each instance, day by day. No foreign key: the relay counts events, and one bad row must not stop the log.
CREATE TABLE "message_days" (
  "workspaceId" UUID NOT NULL,
  "instanceId" UUID NOT NULL,
  "day" DATE NOT NULL,
  "sent" INTEGER NOT NULL DEFAULT 0,
  "delivered" INTEGER NOT NULL DEFAULT 0,
  "read" INTEGER NOT NULL DEFAULT 0,
  "failed" INTEGER NOT NULL DEFAULT 0,
  "received" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "message_days_pkey" PRIMARY KEY ("workspaceId", "day", "instanceId")
);
CREATE INDEX "message_days_day_idx" ON "message_days" ("day");
