// Proves what every file has: a purpose in its first line, a name that says what it contains, and named exports.
import { describe, expect, it } from 'vitest'
import { filesOf, sourcesOf } from './sources.ts'

const files = sourcesOf('src', 'rest-compat')

describe('every file', () => {
  const everything = [...sourcesOf('src', 'rest-compat', 'test', 'prisma'), ...sourcesOf('.')]

  it('states its purpose in its first line', () => {
    const silent = everything.filter(({ text }) => !/^\/\/ \S.{9,}/.test(text)).map(({ path }) => path)
    expect(silent).toEqual([])
  })

  it('has a kebab-case name, in a folder whose name says what it contains', () => {
    const all = ['src', 'rest-compat', 'test', 'prisma/schema'].flatMap(filesOf)
    const names = all.filter((name) => !name.endsWith('/README.md'))
    const ours = names.map((name) =>
      name
        .replace(/^(src|rest-compat|test|prisma)\//, '')
        .replace(
          /\.((unit\.|process\.|deep\.)?test\.|sql\.|d\.|config\.|module\.)?(tsx?|[cm]?js|json|md|prisma|graphql|html|css|yml|conf|service)$/,
          '',
        ),
    )
    expect(ours.filter((name) => !name.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(part)))).toEqual([])
    const nothing = /^(utils?|shared|common|libs?|helpers?|types?|misc|v\d+)$/
    expect(ours.filter((name) => name.split('/').some((part) => nothing.test(part)))).toEqual([])
  })

  it('uses named exports, unless a tool requires a default export', () => {
    const insisted = /(\.config|^codegen)\.ts$/
    const wrong = everything.filter(({ path, text }) => !insisted.test(path) && /^export default|\bas default\b/m.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('leaves reading the environment to core/config/config.ts', () => {
    const readers = files.filter(({ text }) => /\bprocess\s*(\.env|\[['"]env)|\benv\b[^\n]*\bfrom 'node:process'/.test(text))
    expect(readers.map(({ path }) => path)).toEqual(['src/core/config/config.ts'])
  })
})
