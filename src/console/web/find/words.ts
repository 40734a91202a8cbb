// The words of Find, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words of Find. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
