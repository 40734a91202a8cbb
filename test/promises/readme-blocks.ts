// What the tests of README.md read in it.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../kit/kit.ts'

export const readme = readFileSync(path.join(root, 'README.md'), 'utf8')

export interface Block {
  language: string
  text: string
}

export const blocks: Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language: language as string,
  text: text as string,
}))

/** The shell examples with curl, in the order of the page; those with something to fill in are none. */
export const curls = blocks.filter(({ language, text }) => language === 'sh' && text.includes('curl') && !text.includes('…'))
