// Proves that REST and GraphQL decide alike about every role in the console, for every route that it shares with the public API.
import { describePeople } from './matrix.ts'
import { people } from './people.ts'

describePeople(
  'both surfaces',
  people.map(([name]) => name),
)
