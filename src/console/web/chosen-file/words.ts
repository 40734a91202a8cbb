// The words about a file that the reader chose, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words about a file that the reader chose. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
