// REST routes of media. Routes that transfer files have their own handlers instead of a GraphQL operation.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { byId, deletedAnswer, type FileRoute, row } from './route.ts'

const DeleteMedia = graphql(`
  mutation DeleteMedia($id: ID!) {
    deleteMedia(id: $id) {
      id
      deleted
    }
  }
`)

const mediaRecord = z.object({
  id: z.uuid(),
  url: z.url(),
  mimeType: z.string(),
  size: z.int(),
  createdAt: z.iso.datetime(),
})

export const mediaFiles: FileRoute[] = [
  {
    method: 'POST',
    path: '/media',
    summary: 'Upload a file',
    description:
      'Stores the part `file` of a form. The type is detected from the content: JPEG, PNG, WebP and GIF up to 5 MiB; MP4, 3GPP, MP3, M4A, AAC, AMR and Ogg up to 16 MiB; PDF, Word, Excel, PowerPoint and plain text up to the 64 MiB of the whole body. The plan limits the size of all files together: Free 100 MiB, Pro 5 GiB, MAX 50 GiB.',
    operationId: 'uploadMedia',
    errors: ['SUBSCRIPTION_INACTIVE', 'MEDIA_STORAGE_EXCEEDED'],
    surfaces: ['public', 'console'],
    scope: 'workspace',
    transfer: 'upload',
    status: 201,
    answer: mediaRecord,
  },
  {
    method: 'GET',
    path: '/media/:id',
    summary: 'Read a file',
    description: 'Returns the file itself. Supports `Range` and `If-None-Match`, and HEAD for the headers alone.',
    operationId: 'downloadMedia',
    errors: [],
    surfaces: ['public', 'console'],
    scope: 'workspace',
    transfer: 'download',
    status: 200,
  },
]

export const mediaRoutes = [
  row('DELETE', '/media/:id', {
    summary: 'Delete a file',
    document: DeleteMedia,
    variables: byId,
    project: (data) => data.deleteMedia,
    answer: deletedAnswer,
  }),
]
