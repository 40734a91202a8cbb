// Contacts in the graph.
import { builder } from '../core/builder.ts'

builder.prismaObject('Contact', {
  description: 'Someone the workspace writes to.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'The whole name.' }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'The first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'The last name.' }),
    phone: t.exposeString('phone', { description: 'The number, E.164.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address.' }),
    tags: t.exposeStringList('tags', { description: 'Labels.' }),
    custom: t.expose('custom', { type: 'JSON', description: 'Values for templates, by name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})
