// The words of the console in the reader's language. Each language is a chunk of its own.
import { preference } from '../preferences.ts'
import type { Words } from './en.ts'

export const languages = { en: 'English', 'pt-BR': 'Português (Brasil)' } as const
export type Language = keyof typeof languages

/** The language that was chosen here, or the first of the browser's that exists, or English. */
export function chosenLanguage(): Language {
  const chosen = preference('language')
  if (chosen && chosen in languages) return chosen as Language
  for (const tag of navigator.languages) {
    if (tag.startsWith('pt')) return 'pt-BR'
    if (tag.startsWith('en')) return 'en'
  }
  return 'en'
}

/** How dates and numbers are written: as the browser wants it, if that is of the shown language. */
export let locale: string

/** Set once before anything is shown; a change of language loads the page again. */
export let words: Words

export async function loadWords(language: Language): Promise<void> {
  words = language === 'pt-BR' ? (await import('./pt-br.ts')).ptBR : (await import('./en.ts')).en
  document.documentElement.lang = language
  locale = navigator.languages.find((tag) => tag.startsWith(language.slice(0, 2)) && isLocale(tag)) ?? language
}

/** False for a tag that Intl refuses: Chromium on Linux has `en-US@posix` where LANG names no language. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

let counts: Intl.NumberFormat | undefined

/** Formats a count in the reader's language. */
export function count(value: number): string {
  counts ??= new Intl.NumberFormat(locale)
  return counts.format(value)
}

/** The words of one page. Its language is loaded with the page, not with the first one. */
export async function pageWords<Text>(languages: Record<Language, () => Promise<{ words: Text }>>): Promise<Text> {
  return (await languages[chosenLanguage()]()).words
}
