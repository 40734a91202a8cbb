// Fields shared by several request bodies of the identity routes.
import { text } from '../core/validation.ts'

/** Rule for new passwords only. A password that is compared with a stored one may be shorter. */
export const password = text(10, 128)

export const mailToken = text(1, 2_048).describe('The token in the link of the mail.')
