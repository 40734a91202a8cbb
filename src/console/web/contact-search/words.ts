// The words of this part, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words of the fields that find contacts. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
