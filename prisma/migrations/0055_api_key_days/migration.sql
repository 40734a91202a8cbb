-- The requests of each API key, day by day.
CREATE TABLE "api_key_days" (
  "keyId" UUID NOT NULL,
  "day" DATE NOT NULL,
  "requests" INTEGER NOT NULL,
  CONSTRAINT "api_key_days_pkey" PRIMARY KEY ("keyId", "day"),
  CONSTRAINT "api_key_days_keyId_fkey" FOREIGN KEY ("keyId") REFERENCES "api_keys" ("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "api_key_days_day_idx" ON "api_key_days" ("day");
