// The words of refusals that most readers never meet, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** Our words for codes of the error table. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
