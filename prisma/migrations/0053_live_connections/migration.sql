-- Connections for many operations, so that every process finds the one that holds them.
CREATE TABLE "live_connections" (
    "digest" BYTEA NOT NULL,
    "node" UUID NOT NULL,
    "openedAt" TIMESTAMPTZ(3),
    "seenAt" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "live_connections_pkey" PRIMARY KEY ("digest")
);
