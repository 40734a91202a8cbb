// The links of mails that the gateway of the run wrote to files.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'

/** Waits for a mail to that address with a link; returns the link of the newest one. */
export async function lastMailTo(to: string): Promise<string> {
  const folder = path.join(commons().dataDir, 'mail')
  return await until(async () => {
    const mails = await Promise.all((await readdir(folder)).sort().map((name) => readFile(path.join(folder, name), 'utf8')))
    const mail = mails.findLast((text) => text.startsWith(`To: ${to}\n`))
    return mail?.match(/http\S+\?token=\S+/)?.[0]
  })
}
