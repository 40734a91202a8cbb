// The page for an address that leads nowhere, or to a record of another workspace.

import { To } from '../navigation.tsx'
import { Page } from '../ui/page.tsx'
import { words } from '../words/words.ts'

/** With `inside` it is shown within the frame, which has the `main` landmark. */
export function NotFound() {
  return (
    <Page title={words.notFound.title}>
      <p>{words.notFound.text}</p>
      <p>
        <To to="/">{words.notFound.home}</To>
      </p>
    </Page>
  )
}
