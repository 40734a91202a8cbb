// GraphQL type that every delete mutation returns.
import { builder } from './builder.ts'

export const DeletedRef = builder.objectRef<{ id: string; deleted: true }>('Deleted').implement({
  description: 'A deleted record.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    deleted: t.exposeBoolean('deleted', { description: 'Always true.' }),
  }),
})
