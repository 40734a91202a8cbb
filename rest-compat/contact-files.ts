// REST routes that import and export contacts as files.
import { jobAccepted } from './contact-jobs.ts'
import type { FileRoute } from './route.ts'

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
