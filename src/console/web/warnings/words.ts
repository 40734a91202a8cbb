// The words of warnings, in the language of the browser.
import { pageWords } from '../words/words.ts'

/** The words of warnings about the safety of an instance. */
export const text = await pageWords({
  en: () => import('./words-en.ts'),
  'pt-BR': () => import('./words-pt-br.ts'),
})
