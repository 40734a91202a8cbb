// A parameter of a query string. One that is given twice arrives as a list.
import { z } from 'zod'

export const once = z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be given once') })
