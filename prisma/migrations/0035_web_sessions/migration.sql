-- WhatsApp Web: what is wanted of each connection, its credentials and keys, the processes that can hold connections, and what they ask each other.
CREATE TABLE "web_sessions" (
  "instanceId" UUID NOT NULL,
  "open" BOOLEAN NOT NULL DEFAULT true,
  "phone" TEXT,
  "retryAt" TIMESTAMPTZ(3),
  "removal" BYTEA,
  "removalUntil" TIMESTAMPTZ(3),
  "refusals" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
  CONSTRAINT "web_sessions_pkey" PRIMARY KEY ("instanceId"),
  CONSTRAINT "web_sessions_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "web_creds" (
  "instanceId" UUID NOT NULL,
  "data" BYTEA NOT NULL,
  CONSTRAINT "web_creds_pkey" PRIMARY KEY ("instanceId"),
  CONSTRAINT "web_creds_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "web_keys" (
  "instanceId" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "keyId" TEXT NOT NULL,
  "data" BYTEA NOT NULL,
  CONSTRAINT "web_keys_pkey" PRIMARY KEY ("instanceId", "type", "keyId"),
  CONSTRAINT "web_keys_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE TABLE "web_nodes" (
  "node" UUID NOT NULL,
  "seenUntil" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "web_nodes_pkey" PRIMARY KEY ("node")
);
CREATE TABLE "web_calls" (
  "id" UUID NOT NULL,
  "instanceId" UUID NOT NULL,
  "request" JSONB NOT NULL,
  "answer" JSONB,
  "takenAt" TIMESTAMPTZ(3),
  "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "web_calls_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "web_calls_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "web_calls_instanceId_idx" ON "web_calls" ("instanceId");
CREATE TABLE "web_numbers" (
  "instanceId" UUID NOT NULL,
  "phone" TEXT NOT NULL,
  "exists" BOOLEAN NOT NULL,
  "checkedAt" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "web_numbers_pkey" PRIMARY KEY ("instanceId", "phone"),
  CONSTRAINT "web_numbers_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "web_numbers_checkedAt_idx" ON "web_numbers" ("checkedAt");
CREATE TABLE "web_options" (
  "instanceId" UUID NOT NULL,
  "peer" TEXT NOT NULL,
  "options" JSONB NOT NULL,
  "sentAt" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "web_options_pkey" PRIMARY KEY ("instanceId", "peer"),
  CONSTRAINT "web_options_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "web_options_sentAt_idx" ON "web_options" ("sentAt");
