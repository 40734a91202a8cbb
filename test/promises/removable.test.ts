// Proves that the console and rest-compat import only what they may, and that both can be removed.
import { describe, expect, it } from 'vitest'
import { broken, files, imports } from './imports.ts'
import { importsOf } from './sources.ts'

describe('the console', () => {
  it('is imported by src/server.ts alone, in one line, so that it can be removed', () => {
    const from = imports((folder) => folder !== 'console').filter(({ to }) => to === 'console')
    expect(broken(from).filter((line) => line !== 'src/server.ts imports src/console/mount.ts')).toEqual([])
  })

  it('imports only core in its server part', () => {
    const wrong = imports((folder) => folder === 'console').filter(
      ({ source, to }) => !source.path.startsWith('src/console/web/') && !['core', 'console', 'package'].includes(to),
    )
    expect(broken(wrong)).toEqual([])
  })

  it('imports nothing of the gateway in its browser part: only its own folder, and packages for browsers', () => {
    const wrong = imports((folder) => folder === 'console').filter(({ source, target, to }) => {
      if (!source.path.startsWith('src/console/web/')) return false
      return to === 'package' ? target.startsWith('node:') : !target.startsWith('src/console/web/')
    })
    expect(broken(wrong)).toEqual([])
  })
})

describe('rest-compat', () => {
  it('imports only its own folder, the error table, and packages', () => {
    const wrong = imports((folder) => folder === 'rest-compat').filter(
      ({ target, to }) => !['rest-compat', 'package'].includes(to) && target !== 'src/core/errors.ts',
    )
    expect(broken(wrong)).toEqual([])
  })

  it('depends on the GraphQL schema, not on the database', () => {
    const wrong = imports((folder) => folder === 'rest-compat').filter(({ target }) =>
      /^(pg|pg-boss|@prisma\/.*|@pothos\/.*)$/.test(target),
    )
    expect(broken(wrong)).toEqual([])
  })

  it('is imported by src/server.ts alone, in one line', () => {
    const from = imports((folder) => folder !== 'rest-compat').filter(({ to }) => to === 'rest-compat')
    expect(broken(from)).toEqual(['src/server.ts imports rest-compat/mount.ts'])
  })

  it('can be removed without affecting the GraphQL schema: src/schema.ts reaches neither it nor the server', () => {
    const byPath = new Map(files.map((source) => [source.path, source]))
    const reached = new Set(['src/schema.ts'])
    for (const path of reached) {
      const source = byPath.get(path)
      for (const target of source ? importsOf(source) : []) if (target.endsWith('.ts')) reached.add(target)
    }
    expect([...reached].filter((path) => path === 'src/server.ts' || path.startsWith('rest-compat/'))).toEqual([])
    expect(reached.size).toBeGreaterThan(20)
  })
})
