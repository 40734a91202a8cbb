// The words of this part of the shell, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words of the warnings of the shell. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
