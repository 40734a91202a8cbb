// The words of this page, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words of the pages of campaigns. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
