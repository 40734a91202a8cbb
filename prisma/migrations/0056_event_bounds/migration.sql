-- The event log becomes a table of partitions by number, so that its expired part is dropped and not deleted row by row. What is there
-- becomes the first partition, without a copy. Three steps, so that the one that reads all rows stops nobody. First a bound for new rows, ten
-- million numbers away, which cannot be reached before the last step.
-- Scripts are cut at semicolons before they run, so those inside blocks are written as \x3b.

-- Takes the locks of both tables or none. Others wait behind it for at most half a second, which is less than the time after which
-- PostgreSQL looks for deadlocks. The last step drops it.
CREATE OR REPLACE FUNCTION "lock_events"() RETURNS void LANGUAGE plpgsql AS E'BEGIN
  SET LOCAL lock_timeout = \'500ms\'\x3b
  FOR attempt IN 1..120 LOOP
    BEGIN
      LOCK TABLE "events", "webhook_deliveries" IN ACCESS EXCLUSIVE MODE\x3b
      RETURN\x3b
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 120 THEN RAISE\x3b END IF\x3b
      PERFORM pg_sleep(0.1)\x3b
    END\x3b
  END LOOP\x3b
END';

DO E'BEGIN
  PERFORM "lock_events"()\x3b
  EXECUTE format(\'ALTER TABLE "events" ADD CONSTRAINT "events_upper" CHECK ("seq" < %s) NOT VALID\',
    (SELECT ("last" / 1000000 + 10) * 1000000 FROM "event_sequence"))\x3b
END';
