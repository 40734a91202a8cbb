-- The planner expects up to 10,000 rows of each owner. Where most owners have one row, it expected one row, and took an index of all rows of the
-- owner for as good as the one that finds a number among them: 500 numbers of a list of 30,000 took 7 s until the table was analyzed again.
ALTER TABLE "suppressions" ALTER COLUMN "workspaceId" SET (n_distinct = -0.0001);
ALTER TABLE "web_numbers" ALTER COLUMN "instanceId" SET (n_distinct = -0.0001);
ALTER TABLE "cloud_addresses" ALTER COLUMN "instanceId" SET (n_distinct = -0.0001);
-- They hold from the next analysis on.
ANALYZE "suppressions", "web_numbers", "cloud_addresses";
