// The same send as curl, GraphQL and TypeScript, with this gateway's address.
import { settings } from '../settings.ts'

export interface Sending {
  instanceId: string
  to: string
  type?: string
  [field: string]: unknown
}

const key = 'YOUR_KEY'

/** Three pieces of code, ready to run once the key stands in them. `apiKey` puts it there. */
export function codeOf(sending: Sending, apiKey = key): { title: string; text: string }[] {
  const url = location.origin + settings.base
  const given = Object.fromEntries(Object.entries(sending).filter(([, value]) => value !== undefined && value !== ''))
  const { scheduledAt } = given
  const mutation = scheduledAt ? 'scheduleMessage' : 'sendMessage'
  const input = scheduledAt ? 'ScheduleMessageInput' : 'SendMessageInput'
  const query = `mutation Send($input: ${input}!) { ${mutation}(input: $input) { id status } }`
  const body = JSON.stringify({ query, variables: { input: given } }, null, 2)
  return [
    {
      title: 'curl',
      text: [
        `curl ${url}/api/v1/messages/${scheduledAt ? 'schedule' : 'send'} \\`,
        `  -H 'x-api-key: ${apiKey}' \\`,
        `  -H 'content-type: application/json' \\`,
        `  -d ${quote(JSON.stringify(given))}`,
      ].join('\n'),
    },
    {
      title: 'GraphQL',
      text: `${query.replace(/ \{ /g, ' {\n  ').replace(/ \}/g, '\n}')}\n\n${JSON.stringify({ input: given }, null, 2)}`,
    },
    {
      title: 'TypeScript',
      text: [
        `const response = await fetch('${url}/graphql', {`,
        `  method: 'POST',`,
        `  headers: { 'x-api-key': '${apiKey}', 'content-type': 'application/json' },`,
        `  body: JSON.stringify(${indent(body)}),`,
        `})`,
        `const { data, errors } = await response.json()`,
      ].join('\n'),
    },
  ]
}

/** A string for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
