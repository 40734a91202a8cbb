// Rig of the tests of imports: sends a CSV file as a form does.
import { type Answer, type Api, api } from '../kit/api.ts'
import { type Job, watchJob } from './bulk-rig.ts'

/** Sends `csv` with the other fields of the form to `POST contacts/import`. */
export async function postImport(
  gateway: { url: string },
  apiKey: string,
  csv: string | Buffer<ArrayBuffer>,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([csv]), 'contacts.csv')
  const response = await fetch(new URL('/api/v1/contacts/import', gateway.url), {
    method: 'POST',
    body: form,
    headers: { 'x-api-key': apiKey, ...headers },
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export interface ImportJob extends Omit<Job, 'summary'> {
  summary: { created: number; updated: number; skipped: number; invalid: { line: number; field: string; message: string }[] }
}

/** Imports a file and waits for the end of the job. */
export async function importAll(
  gateway: { url: string },
  apiKey: string,
  csv: string | Buffer<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<ImportJob> {
  const { status, body } = await postImport(gateway, apiKey, csv, fields)
  if (status !== 202) throw new Error(JSON.stringify(body))
  const client = api(gateway, apiKey)
  await watchJob(client, body.data.jobId)
  return (await client.get(`contacts/bulk-jobs/${body.data.jobId}`)).body.data
}

/** All contacts of the workspace by their numbers. */
export async function contactsOf(client: Api): Promise<Record<string, Record<string, unknown>>> {
  const { contacts } = (await client.get('contacts?limit=100')).body.data
  return Object.fromEntries((contacts as { phone: string }[]).map((contact) => [contact.phone, contact]))
}
