// Tells whether a text is as long as a number must be.

/** True for `+` and 8 to 15 digits (E.164). The gateway also knows the lengths of each country. */
export const isPhone = (text: string) => /^\+[1-9]\d{7,14}$/.test(text)
