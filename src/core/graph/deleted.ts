// GraphQL type that every delete mutation returns.
import { builder } from './builder.ts'

export const DeletedRef = builder.objectRef<{ id: string; deleted: true }>('Deleted').implement({
  description: 'Something that is gone.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What it was.' }),
    deleted: t.exposeBoolean('deleted', { description: 'Always true.' }),
  }),
})
