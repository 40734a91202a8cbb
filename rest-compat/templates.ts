// REST routes of templates.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, byIdWithInput, deletedAnswer, row } from './route.ts'

graphql(`
  fragment TemplateRecord on Template {
    id
    name
    type
    body
    mediaUrl
    cloud {
      name
      language
      parameters
    }
    createdAt
    updatedAt
  }
`)

const ListTemplates = graphql(`
  query ListTemplates {
    templates {
      ...TemplateRecord
    }
  }
`)

const GetTemplate = graphql(`
  query GetTemplate($id: ID!) {
    template(id: $id) {
      ...TemplateRecord
    }
  }
`)

const CreateTemplate = graphql(`
  mutation CreateTemplate($input: CreateTemplateInput!) {
    createTemplate(input: $input) {
      ...TemplateRecord
    }
  }
`)

const UpdateTemplate = graphql(`
  mutation UpdateTemplate($id: ID!, $input: UpdateTemplateInput!) {
    updateTemplate(id: $id, input: $input) {
      ...TemplateRecord
    }
  }
`)

const DeleteTemplate = graphql(`
  mutation DeleteTemplate($id: ID!) {
    deleteTemplate(id: $id) {
      id
      deleted
    }
  }
`)

const PreviewTemplate = graphql(`
  mutation PreviewTemplate($id: ID!, $contactId: ID, $variables: JSON) {
    previewTemplate(id: $id, contactId: $contactId, variables: $variables) {
      type
      body
      mediaUrl
      missing
    }
  }
`)

const ImportCloudTemplates = graphql(`
  mutation ImportCloudTemplates($instanceId: ID!) {
    importCloudTemplates(instanceId: $instanceId) {
      created
      updated
      skipped {
        name
        reason
      }
    }
  }
`)

const templateRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  type: z.string(),
  body: z.string(),
  mediaUrl: z.string().nullable(),
  cloud: z.object({ name: z.string(), language: z.string(), parameters: z.array(z.string()) }).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

export const templateRoutes = [
  row('GET', '/templates', {
    summary: 'List templates',
    document: ListTemplates,
    variables: () => ({}),
    project: (data) => data.templates,
    answer: z.array(templateRecord),
  }),
  row('POST', '/templates', {
    summary: 'Create a template',
    document: CreateTemplate,
    input: 'CreateTemplateInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createTemplate,
    answer: templateRecord,
  }),
  row('POST', '/templates/import', {
    summary: 'Import approved templates',
    document: ImportCloudTemplates,
    input: 'ImportTemplatesArguments',
    variables: ({ body }) => ({ instanceId: body.instanceId as string }),
    project: (data) => data.importCloudTemplates,
    answer: z.object({
      created: z.int(),
      updated: z.int(),
      skipped: z.array(z.object({ name: z.string(), reason: z.string() })),
    }),
  }),
  row('GET', '/templates/:id', {
    summary: 'Read a template',
    document: GetTemplate,
    variables: byId,
    project: (data) => data.template,
    answer: templateRecord,
  }),
  row('PUT', '/templates/:id', {
    summary: 'Update a template',
    document: UpdateTemplate,
    input: 'UpdateTemplateInput',
    variables: byIdWithInput,
    project: (data) => data.updateTemplate,
    answer: templateRecord,
  }),
  row('DELETE', '/templates/:id', {
    summary: 'Delete a template',
    document: DeleteTemplate,
    variables: byId,
    project: (data) => data.deleteTemplate,
    answer: deletedAnswer,
  }),
  row('POST', '/templates/:id/preview', {
    summary: 'Preview a template',
    document: PreviewTemplate,
    input: 'PreviewArguments',
    optionalBody: true,
    variables: ({ params, body }) => ({ ...body, id: params.id as string }),
    project: (data) => data.previewTemplate,
    answer: z.object({ type: z.string(), body: z.string(), mediaUrl: z.string().nullable(), missing: z.array(z.string()) }),
  }),
]
