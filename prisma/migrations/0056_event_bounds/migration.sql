-- The event log becomes a table of partitions by number, so that its expired part is dropped and not deleted row by row. What is there
-- becomes the first partition, without a copy. Three steps, so that the one that reads all rows stops nobody. First a bound for new rows, ten
-- million numbers away, which cannot be reached before the last step.

-- Takes the locks of both tables or none. Others wait behind it for at most half a second, which is less than the time after which
-- PostgreSQL looks for deadlocks. The last step drops it.
CREATE FUNCTION "lock_events"() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL lock_timeout = '500ms';
  FOR attempt IN 1..120 LOOP
    BEGIN
      LOCK TABLE "events", "webhook_deliveries" IN ACCESS EXCLUSIVE MODE;
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      IF attempt = 120 THEN RAISE; END IF;
      PERFORM pg_sleep(0.1);
    END;
  END LOOP;
END $$;

SELECT "lock_events"();
DO $$
BEGIN
  EXECUTE format('ALTER TABLE "events" ADD CONSTRAINT "events_upper" CHECK ("seq" < %s) NOT VALID',
    (SELECT ("last" / 1000000 + 10) * 1000000 FROM "event_sequence"));
END $$;
