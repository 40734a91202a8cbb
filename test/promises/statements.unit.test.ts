// Proves that no two statements share a name: a connection that has prepared one of them refuses the other.
import { expect, it } from 'vitest'
import { sourcesOf } from './sources.ts'

it('gives each prepared statement a name of its own', () => {
  const statements = sourcesOf('src').filter((source) => source.path.endsWith('.sql.ts'))
  const names = statements.flatMap(({ text }) =>
    [...text.matchAll(/\bname: '([a-z-]+\.[a-z.-]+)'/g)].map(([, name]) => name as string),
  )
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})
