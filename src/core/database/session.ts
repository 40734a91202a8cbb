// Settings that sessions of the gateway begin with. They are startup parameters, which a pooler does not pass on.

/**
 * Statements are not compiled (JIT), because each reads few rows. If a setting excludes a kind of plan, PostgreSQL up to 17 gives plans of that
 * kind a huge cost, which made it compile short statements of pg-boss for 0.5 to 2.6 s each.
 */
export const withoutJit = '-c jit=off'

/**
 * Settings that change the meaning of statements. They replace those of the server, the database, the role and the address.
 * - `search_path`: Prisma's statements name the schema public, and the SQL of the gateway names no schema.
 * - `default_transaction_isolation`: statements wait for a concurrent change and go on with it. Stricter isolation refuses them.
 * - `array_nulls`: `NULL` in an array parameter is a null, not a text.
 */
export const dialect = '-c search_path=public -c default_transaction_isolation=read\\ committed -c array_nulls=on'

/**
 * Settings of pooled sessions. Pools close a connection that was idle for 10 s. The server closes one itself that it still has after a
 * minute, because the network has forgotten it. Otherwise forgotten ones would fill its connection table.
 *
 * Statements find their rows by indexes. PostgreSQL keeps the plan of a prepared statement until the table is analyzed, at the earliest a
 * minute later. A plan from an empty table reads the whole table, however large it has become: with 12,000 messages each settlement took
 * 6.4 ms in place of 0.6, and each receipt 3.3 ms in place of 0.4.
 */
export const sessionOptions = `-c idle_session_timeout=60000 -c enable_seqscan=off ${withoutJit}`
