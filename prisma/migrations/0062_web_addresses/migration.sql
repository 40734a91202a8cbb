-- The number as the network writes it, where a look-up told that it has other digits.
ALTER TABLE "web_numbers" ADD COLUMN "address" TEXT;
CREATE INDEX "web_numbers_instanceId_address_idx" ON "web_numbers" ("instanceId", "address");
