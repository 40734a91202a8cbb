// The words for the reasons of failures, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** By code, a meaning and an advice; and both for a code that has none of its own. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
