// Proves that the documents describe parameters and bodies as the gateway reads them.
import { describe, expect, it } from 'vitest'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import { apiDocument } from '../kit/document.ts'
import { surfaces } from './surfaces.ts'

describe.each(surfaces)('the document of the $surface surface', ({ surface }) => {
  const { components, paths } = apiDocument(surface)

  /** A query parameter without its description. */
  function parameter(path: string, name: string): object {
    const found = paths[path]?.get?.parameters?.find((one) => 'name' in one && one.name === name)
    const { description: _, ...rest } = found as { description?: string }
    return rest
  }

  it.each(['/messages', '/messages/export.csv'])('has several statuses, separated by commas, in a query of %s', (path) => {
    const items = { $ref: '#/components/schemas/MessageStatus' }
    const schema = { type: 'array', items, minItems: 1, maxItems: 8 }
    expect(parameter(path, 'statuses')).toEqual({ name: 'statuses', in: 'query', schema, explode: false })
    expect(parameter(path, 'status')).toEqual({ name: 'status', in: 'query', schema: items })
  })

  it('has a UUID as the cursor of bulk jobs', () => {
    const schema = { type: 'string', format: 'uuid' }
    expect(parameter('/contacts/bulk-jobs', 'cursor')).toEqual({ name: 'cursor', in: 'query', schema })
  })

  it('requires the days of a change of the retention, which may be null', () => {
    const { required, properties } = components.schemas.UpdateRetentionSettingsInput as Schema
    expect([required, properties?.messagesDays?.type]).toEqual([['messagesDays'], ['number', 'null']])
  })
})
