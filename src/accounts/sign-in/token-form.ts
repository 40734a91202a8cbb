// Lifetime and audience of access tokens.

/** Lifetime in seconds. */
export const tokenSeconds = 600
/** The `aud` claim. */
export const tokenAudience = 'console'
