-- Receipts that came before their message was known by the network's id.
CREATE TABLE "early_receipts" (
  "instanceId" UUID NOT NULL,
  "providerMessageId" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "reference" UUID,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "error" TEXT,
  "detail" TEXT,
  "restricted" BOOLEAN NOT NULL DEFAULT false,
  "keptAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "nextAt" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "early_receipts_pkey" PRIMARY KEY ("instanceId", "providerMessageId", "status"),
  CONSTRAINT "early_receipts_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
