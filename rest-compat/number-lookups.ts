// REST route of number lookups.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, row } from './route.ts'

const LookupNumbers = graphql(`
  mutation LookupNumbers($input: LookupNumbersInput!) {
    lookupNumbers(input: $input) {
      phone
      exists
      checkedAt
    }
  }
`)

const numberLookup = z.object({ phone: z.string(), exists: z.boolean().nullable(), checkedAt: z.iso.datetime() })

export const numberLookupRoutes = [
  row('POST', '/number-lookups', {
    summary: 'Look up numbers',
    document: LookupNumbers,
    input: 'LookupNumbersInput',
    variables: bodyAsInput,
    project: (data) => data.lookupNumbers,
    answer: z.array(numberLookup),
  }),
]
