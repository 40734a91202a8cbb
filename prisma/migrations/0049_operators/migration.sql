-- Accounts that may see the whole installation, and the processes that run.
ALTER TABLE "users" ADD COLUMN "operator" BOOLEAN NOT NULL DEFAULT false;
CREATE TABLE "nodes" (
    "id" UUID NOT NULL,
    "roles" TEXT[],
    "version" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "seenAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "openStreams" INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT "nodes_pkey" PRIMARY KEY ("id")
);
