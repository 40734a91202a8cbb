// Settings that sessions of the gateway begin with. They are startup parameters, which a pooler does not pass on.

/**
 * Statements are not compiled (JIT), because each reads few rows. Where a setting excludes a plan, PostgreSQL up to 17 takes the cost of what is
 * left for huge, and compiled short statements of pg-boss for 0.5 to 2.6 s each.
 */
export const withoutJit = '-c jit=off'

/**
 * Settings of pooled sessions. Pools close a connection that was idle for 10 s. The server closes one itself that it still has after a
 * minute, because the network has forgotten it. Otherwise forgotten ones would fill its connection table.
 */
export const sessionOptions = `-c idle_session_timeout=60000 ${withoutJit}`
