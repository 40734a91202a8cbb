// Proves that the errors of a field end its description in the GraphQL schema and reach the OpenAPI documents as codes.
import { isObjectType, parse, printSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { selectedField } from '../../rest-compat/openapi/graph.ts'
import { schema } from '../../src/schema.ts'

const fields = Object.values(schema.getTypeMap()).flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []))
const asked = (document: string) => selectedField(schema, parse(document))

describe('the errors of a field', () => {
  it('end its description, each with its case', () => {
    const { createTemplate, revokeTeamApiKey } = schema.getMutationType()?.getFields() ?? {}
    expect(createTemplate?.description).toBe(
      'Creates a template, up to 1,000 in a workspace. Errors: SUBSCRIPTION_INACTIVE, TEMPLATE_INVALID, CONFLICT if the name is taken, INVALID_STATE if the workspace has 1,000.',
    )
    expect(revokeTeamApiKey?.description).toMatch(/ Errors: TEAM_NOT_FOUND, FORBIDDEN for collaborators, NOT_FOUND\.$/)
  })

  it('are codes apart from the description for the OpenAPI documents, with those of the fields around it', () => {
    expect(asked('mutation { createTemplate { id name } }')).toMatchObject({
      description: 'Creates a template, up to 1,000 in a workspace.',
      errors: ['SUBSCRIPTION_INACTIVE', 'TEMPLATE_INVALID', 'CONFLICT', 'INVALID_STATE'],
    })
    expect(asked('{ team { apiKeys { id name } } }')).toMatchObject({
      description: 'Its active API keys, oldest first.',
      errors: ['TEAM_NOT_FOUND', 'FORBIDDEN'],
    })
    expect(asked('{ plans { id name } }')).toMatchObject({ description: 'All plans.', errors: [] })
  })

  it('stand in no description but by the option `errors`', () => {
    const listed = fields.flatMap(({ extensions }) => (extensions.documented as { description: string } | undefined) ?? [])
    expect(listed.filter(({ description }) => description.includes('Errors:'))).toEqual([])
    expect(printSchema(schema).match(/Errors:/g)).toHaveLength(listed.length)
    expect(listed.length).toBeGreaterThan(50)
  })
})
