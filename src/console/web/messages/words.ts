// The words of one message and of the further filters, in the language of the browser. The list itself needs none of them.
import { pageWords } from '../words/words.ts'

/** The words of the message pages that load later than the list. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
