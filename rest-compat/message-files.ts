// REST route that exports messages as a file.
import { exportOf } from './export.ts'
import { messagesQuery } from './message-filters.ts'
import { ListMessages, messageRecord } from './messages.ts'

export const messageExport = exportOf({
  path: '/messages/export.csv',
  summary: 'Export messages',
  description:
    'Streams all messages that match the filters of the list as CSV in UTF-8. The columns are the fields of the record; those of `safety` are `safety.decision` and so on, and `warnings` are separated by commas. A cell that a spreadsheet would execute begins with an apostrophe.',
  operationId: 'exportMessages',
  file: 'messages',
  query: messagesQuery,
  list: {
    document: ListMessages,
    variables: ({ query: { sort, ...filter }, page }) => ({ ...page, sort, filter: filter as never }),
    page: (data) => data.messages,
  },
  record: messageRecord,
})
