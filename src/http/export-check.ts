// Ends an export whose caller has lost the right to read, because it reads on for as long as the client takes.
import type { Context } from '../core/context.ts'
import { checkCaller } from '../teams/check-caller.ts'

/**
 * The pages, each checked after it was read: what ends the caller's right may also delete the rows, and the file would seem to be complete.
 * @throws as {@link checkCaller}, while the pages are read.
 */
export async function* whileAllowed<Page>(ctx: Context, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  for await (const page of pages) {
    await checkCaller(ctx)
    yield page
  }
}
