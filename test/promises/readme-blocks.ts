// Reads the user documentation, README.md and the guides of the API reference, and extracts its code blocks.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../kit/environment.ts'

export const readme = readFileSync(path.join(root, 'README.md'), 'utf8')

const folder = path.join(root, 'rest-compat/openapi/guides')

/** The guides by their file names, such as `templates.md`. */
export const guides = new Map(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]))

/** README.md and the guides, by name. */
export const texts = new Map([['README.md', readme], ...guides])

export interface Block {
  language: string
  text: string
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language as string,
    text: text as string,
  }))
}

/** The shell examples in a text that use curl, except those with a blank (`…`) to fill in. */
export function curlsOf(text: string): Block[] {
  return blocksOf(text).filter(({ language, text }) => language === 'sh' && text.includes('curl') && !text.includes('…'))
}

/** The code blocks of README.md, then those of the guides. */
export const blocks = [...texts.values()].flatMap(blocksOf)
export const curls = [...texts.values()].flatMap(curlsOf)
