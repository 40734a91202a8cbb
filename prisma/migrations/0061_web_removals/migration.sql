-- The devices that were still to be removed when a later device of the same instance was logged out.
CREATE TABLE "web_removals" (
  "id" UUID NOT NULL DEFAULT gen_random_uuid(),
  "instanceId" UUID NOT NULL,
  "creds" BYTEA NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "web_removals_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "web_removals_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "web_removals_instanceId_idx" ON "web_removals" ("instanceId");
