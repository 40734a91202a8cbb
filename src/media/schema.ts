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
    id: t.exposeID('id', { description: 'Names the file.' }),
    url: t.string({
      description: 'Where anybody who knows it can read the file; it needs no key and cannot be guessed.',
      resolve: (media, _, { app }) => urlOf(app.config, media),
    }),
    mimeType: t.exposeString('mimeType', { description: 'Its type, as its content shows it.' }),
    size: t.exposeInt('size', { description: 'Its size in bytes.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it came.' }),
  }),
})

builder.objectField(UsageRef, 'mediaBytes', (t) =>
  t.float({
    description: 'Bytes of the files that are stored now, whichever month it is.',
    resolve: async (_, __, { app, principal }) => (await storedOf(app.db, principal.ownerId)).bytes,
  }),
)

builder.queryFields((t) => ({
  media: t.prismaField({
    type: 'Media',
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
      'Deletes an uploaded file, which gives its bytes back to the plan. Its address answers 404 from then on; a message that names it and has not left fails when the network cannot read it.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => deleteMedia(ctx, parse(uuid, id, 'id')),
  }),
}))
