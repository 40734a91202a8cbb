-- messages_held_rank_idx takes its place.
DROP INDEX CONCURRENTLY IF EXISTS "messages_held_idx";
