// The order of what a client accepts, in headers such as Accept.
import { expect, it } from 'vitest'
import { preferencesIn } from '../../src/core/http/preferences.ts'

it.each([
  [undefined, []],
  ['gzip, br', ['gzip', 'br']],
  ['a;q=0.5, B, c;q=0.9', ['b', 'c', 'a']],
  ['gzip;q=0, br; Q=0.0, x;q=no', []],
  ['text/html;level=1;q=0.3, */*;q=0.4', ['*/*', 'text/html']],
])('reads what %j prefers, and leaves out what it refuses', (header, names) => {
  expect(preferencesIn(header)).toEqual(names)
})
