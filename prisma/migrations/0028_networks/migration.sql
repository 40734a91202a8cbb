-- For real networks: the reason of a failure in the network's words, and the process that holds the connection of an instance.
ALTER TABLE "messages" ADD COLUMN "errorDetail" TEXT;

CREATE TABLE "instance_leases" (
  "instanceId" UUID NOT NULL,
  "node" UUID NOT NULL,
  "token" BIGINT NOT NULL,
  "leaseUntil" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "instance_leases_pkey" PRIMARY KEY ("instanceId"),
  CONSTRAINT "instance_leases_instanceId_fkey" FOREIGN KEY ("instanceId") REFERENCES "instances" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "instance_leases_node_idx" ON "instance_leases" ("node");
