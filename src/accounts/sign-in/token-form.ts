// What access tokens say of themselves.

/** How long one holds, in seconds. */
export const tokenSeconds = 600
/** Whom they are for. */
export const tokenAudience = 'console'
