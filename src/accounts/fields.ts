// Fields that several bodies of the identity routes have.
import { text } from '../core/validation.ts'

/** A new password. */
export const password = text(10, 128)

export const mailToken = text(1, 2_048).describe('The token in the link of the mail.')
