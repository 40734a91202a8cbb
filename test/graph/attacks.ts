// Malicious GraphQL documents: too deep, too wide, or too many operations at once.
import { nobody } from '../rest-compat/rig.ts'

const times = (n: number, make: (i: number) => string) => Array.from({ length: n }, (_, i) => make(i)).join(' ')
export const bomb = `{ ...F0 } ${times(20, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F20 on Query { plans { code } }`
const wideBomb = `{ plans { ...F0 } } ${times(20, (i) => `fragment F${i} on Plan { a${i}: code ...F${i + 1} ...F${i + 1} }`)} fragment F20 on Plan { code }`

/** None of them may run. `$input` stands for a message that could be sent. */
export const attacks: [name: string, query: string][] = [
  ['braces, 50 deep', `${'{ a '.repeat(50)}${'}'.repeat(50)}`],
  ['braces, 5,000 deep', '{ a '.repeat(5_000)],
  ['braces, 100,000 deep', '{'.repeat(100_000)],
  ['lists, 100,000 deep', `{ a(b: ${'['.repeat(100_000)}${']'.repeat(100_000)}) }`],
  ['depth through real fields', `{ __schema { types { ${'fields { type { '.repeat(15)}name${' } }'.repeat(15)} } } }`],
  [
    'all types, 14 times',
    `{ __schema { ${times(14, (i) => `t${i}: types { ...T }`)} } } fragment T on __Type { fields { type { ofType { fields { name } } } } }`,
  ],
  ['the schema, twice', '{ a: __schema { types { name } } b: __schema { types { name } } }'],
  ['a type, 14 times', `{ ${times(14, (i) => `t${i}: __type(name: "Query") { fields { name } }`)} }`],
  ['the schema and a type', '{ __schema { queryType { name } } ...F } fragment F on Query { __type(name: "Query") { name } }'],
  [
    'the fields of all fields',
    '{ __schema { types { fields { type { fields { name description args { name description } } } } } } }',
  ],
  [
    'groups of members of groups',
    '{ contacts(first: 7) { nodes { groups { members(first: 6) { nodes { groups { id } } } } } } }',
  ],
  ['a comment of 300,000 characters', `{ me { id } } #${'x'.repeat(300_000)}`],
  ['a text of 300,000 characters', `{ message(id: "${'x'.repeat(300_000)}") { id } }`],
  ['100 faults behind 250,000 line breaks', `${'\n'.repeat(250_000)}{ ${times(100, (i) => `a${i}`)} }`],
  ['a document of 2,001 lines', `{ me { id } }${'\r\n'.repeat(1_000)}${'\r'.repeat(1_000)}`],
  ['16 aliases', `{ ${times(16, (i) => `a${i}: me { id }`)} }`],
  ['5,000 aliases', `{ ${times(5_000, (i) => `a${i}: me { id }`)} }`],
  ['50,000 times one field', `{ me { ${times(50_000, () => 'id')} } }`],
  ['5,000 directives', `{ me { id ${times(5_000, () => '@include(if: true)')} } }`],
  ['51 directives', `{ me { id ${times(51, () => '@include(if: true)')} } }`],
  ['an unknown directive', '{ me { id @export } }'],
  ['a circle of fragments', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
  ['a bomb of fragments', bomb],
  ['a wide bomb of fragments', wideBomb],
  ['300 fields that overlap', `{ me { ${times(300, (i) => `...{ id plan { ${i % 2 ? 'code' : 'name'} } }`)} } }`],
  ['pages of pages', `{ webhooks { deliveries(first: 100) { nodes { ${times(14, (i) => `a${i}: id`)} } } } }`],
  ['two mutations', `mutation { a: deleteInstance(id: "${nobody}") { id } b: deleteInstance(id: "${nobody}") { id } }`],
  [
    'ten sends by alias',
    `mutation ($input: SendMessageInput!) { ${times(10, (i) => `a${i}: sendMessage(input: $input) { id }`)} }`,
  ],
  [
    'mutations in a fragment',
    `mutation { ...F } fragment F on Mutation { a: deleteInstance(id: "${nobody}") { id } b: deleteInstance(id: "${nobody}") { id } }`,
  ],
  [
    'mutations in inline fragments',
    `mutation { ... { a: deleteInstance(id: "${nobody}") { id } } ... { b: deleteInstance(id: "${nobody}") { id } } }`,
  ],
  ['a page of a billion', '{ messages(first: 1000000000) { nodes { id } } }'],
  ['a negative page', '{ messages(first: -1) { nodes { id } } }'],
  ['both ends', '{ messages(first: 1, last: 1) { nodes { id } } }'],
]
