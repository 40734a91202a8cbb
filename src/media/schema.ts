// GraphQL fields of media: metadata of a file. Files are uploaded and downloaded by REST.
import { UsageRef } from '../billing/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { parse, uuid } from '../core/validation.ts'
import { storedOf } from './quota.ts'
import { deleteMedia, findMedia } from './service.ts'
import { urlOf } from './url.ts'

builder.prismaObject('Media', {
  description: 'An uploaded file, to be used as `mediaUrl`.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    url: t.string({
      description: 'The public address of the file. It needs no key and cannot be guessed.',
      resolve: (media, _, { app }) => urlOf(app.config, media),
    }),
    mimeType: t.exposeString('mimeType', { description: 'Its type, detected from its content.' }),
    size: t.exposeInt('size', { description: 'Its size in bytes.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was uploaded.' }),
  }),
})

builder.objectField(UsageRef, 'mediaBytes', (t) =>
  t.float({
    description: 'Total size of the files that are stored now, in bytes.',
    resolve: async (_, __, { app, principal }) => (await storedOf(app.db, principal.ownerId)).bytes,
  }),
)

builder.queryFields((t) => ({
  media: t.prismaField({
    type: 'Media',
    nullable: true,
    description: 'One uploaded file.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_query, _, { id }, ctx) => findMedia(ctx, parse(uuid, id, 'id')),
  }),
}))

builder.mutationFields((t) => ({
  deleteMedia: t.field({
    type: DeletedRef,
    description:
      'Deletes an uploaded file and frees its storage. Its address answers 404 from then on; messages that refer to it and are not sent yet fail if the network cannot read it.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => deleteMedia(ctx, parse(uuid, id, 'id')),
  }),
}))
