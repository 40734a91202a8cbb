// REST routes that import and export contacts as files.
import { contactRecord, contactsQuery, ListContacts } from './contacts.ts'
import { exportOf } from './export.ts'
import { graphql } from './generated/gql.ts'
import { jobAccepted } from './job-records.ts'
import type { FileRoute } from './route.ts'

const ContactKeys = graphql(`
  query ContactKeys {
    contactKeys
  }
`)

export const contactExport = exportOf({
  path: '/contacts/export.csv',
  summary: 'Export contacts',
  description:
    'Streams all contacts that match the filters of the list as CSV in UTF-8. The columns are the fields of the record; `custom` has a column for each key, `custom.KEY`, of which there are 1,000 at most, in alphabetical order, and `tags` are separated by commas. `POST contacts/import` takes the same form. A cell that a spreadsheet would execute begins with an apostrophe.',
  operationId: 'exportContacts',
  file: 'contacts',
  query: contactsQuery,
  list: {
    document: ListContacts,
    variables: ({ query: { sort, ...filter }, page }) => ({ ...page, sort, filter }),
    page: (data) => data.contacts,
  },
  record: contactRecord,
  keys: { document: ContactKeys, of: (data: { contactKeys: string[] }) => data.contactKeys },
})

export const contactFiles: FileRoute[] = [
  {
    method: 'POST',
    path: '/contacts/import',
    summary: 'Import contacts',
    description:
      'Imports the CSV file in the part `file` of a form in the background: UTF-8, `,` or `;`, at most 100,000 lines and 64 MiB. The first line has the titles of the columns: `name`, `firstName`, `lastName`, `phone`, `email`, `tags` (separated by commas), `custom.KEY`. An empty cell leaves what is there. The `summary` of the job counts the contacts and lists the first 100 faults by line and field.',
    operationId: 'importContacts',
    errors: ['NOT_FOUND', 'SUBSCRIPTION_INACTIVE'],
    surfaces: ['public', 'console'],
    scope: 'workspace',
    transfer: 'importContacts',
    status: 202,
    form: 'ImportOptions',
    answer: jobAccepted,
  },
]
