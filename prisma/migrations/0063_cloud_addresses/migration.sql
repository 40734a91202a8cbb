-- Numbers to which messages were sent and that Meta writes with other digits.
CREATE TABLE "cloud_addresses" (
  "instanceId" UUID NOT NULL,
  "phone" TEXT NOT NULL,
  "address" TEXT NOT NULL,
  CONSTRAINT "cloud_addresses_pkey" PRIMARY KEY ("instanceId", "phone"),
  CONSTRAINT "cloud_addresses_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "cloud_addresses_instanceId_address_idx" ON "cloud_addresses" ("instanceId", "address");
