-- Reads all rows under a lock that lets others read and write.
ALTER TABLE "events" VALIDATE CONSTRAINT "events_upper";
