-- The version before deletes expired events by their place in the table, which is not unique over partitions. It must not take others with them.
CREATE OR REPLACE FUNCTION "keep_events"() RETURNS trigger LANGUAGE plpgsql AS E'BEGIN
  RETURN CASE WHEN OLD."createdAt" < now() - interval \'30 days\' THEN OLD END\x3b
END';

-- One block, so that all of it is done or nothing. The validated bound spares ATTACH PARTITION a scan, so it takes milliseconds.
DO E'DECLARE
  upper bigint\x3b
BEGIN
  PERFORM "lock_events"()\x3b

  -- A partition that is referenced cannot be dropped. Events outlive their deliveries by a day.
  ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_eventSeq_fkey"\x3b

  ALTER TABLE "events" RENAME TO "events_from_0"\x3b
  ALTER INDEX "events_pkey" RENAME TO "events_from_0_pkey"\x3b
  ALTER INDEX "events_workspaceId_seq_idx" RENAME TO "events_from_0_workspaceId_seq_idx"\x3b
  ALTER INDEX "events_messageId_idx" RENAME TO "events_from_0_messageId_idx"\x3b

  CREATE TABLE "events" (LIKE "events_from_0") PARTITION BY RANGE ("seq")\x3b
  ALTER TABLE "events" ADD CONSTRAINT "events_pkey" PRIMARY KEY ("seq")\x3b
  CREATE INDEX "events_workspaceId_seq_idx" ON "events" ("workspaceId", "seq")\x3b
  CREATE INDEX "events_messageId_idx" ON "events" ("messageId")\x3b
  CREATE TRIGGER "events_kept" BEFORE DELETE ON "events" FOR EACH ROW EXECUTE FUNCTION "keep_events"()\x3b

  SELECT substring(pg_get_constraintdef("oid") FROM \'[0-9]+\') INTO STRICT upper FROM pg_constraint
    WHERE "conname" = \'events_upper\' AND "conrelid" = \'"events_from_0"\'::regclass\x3b
  EXECUTE format(\'ALTER TABLE "events" ATTACH PARTITION "events_from_0" FOR VALUES FROM (MINVALUE) TO (%s)\', upper)\x3b
  ALTER TABLE "events_from_0" DROP CONSTRAINT "events_upper"\x3b
END';

DROP FUNCTION IF EXISTS "lock_events"();
