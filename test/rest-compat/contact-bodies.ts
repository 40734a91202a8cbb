// Bodies of contacts and groups that every API must refuse, with the expected message for each.

type Refused = [name: string, body: unknown, message: string | RegExp]

const name = 'Ada'
const phone = '+393331234567'

export const badContacts: Refused[] = [
  ['nothing', {}, 'name: is required; phone: is required'],
  ['a list in place of the body', [], 'body: must be a JSON object'],
  ['no JSON', '{"name":', 'body: is not valid JSON'],
  ['an empty name', { name: '', phone }, 'name: must not be empty'],
  ['null in place of a name', { name: null, phone }, 'name: must not be null'],
  ['a name of 201', { name: 'x'.repeat(201), phone }, 'name: must have at most 200 characters'],
  ['a number as name', { name: 5, phone }, 'name: must be a string'],
  ['a first name of 201', { name, phone, firstName: 'x'.repeat(201) }, 'firstName: must have at most 200 characters'],
  ['an empty last name', { name, phone, lastName: '' }, 'lastName: must not be empty'],
  ['a national number', { name, phone: '333 1234567' }, /^phone: must be an E\.164 number/],
  ['a number of no country', { name, phone: '+99912345678' }, /^phone: must be an E\.164 number/],
  ['null in place of a number', { name, phone: null }, /^phone: must/],
  ['an e-mail address without a domain', { name, phone, email: 'ada' }, 'email: must be an e-mail address'],
  ['an e-mail address with a line', { name, phone, email: 'ada@example.com\n' }, 'email: must be an e-mail address'],
  ['an e-mail address of 255', { name, phone, email: `${'a'.repeat(243)}@example.com` }, /^email: /],
  ['one label in place of a list', { name, phone, tags: 'vip' }, 'tags: must be an array'],
  ['51 labels', { name, phone, tags: Array.from({ length: 51 }, (_, i) => `${i}`) }, 'tags: must have at most 50 items'],
  ['an empty label', { name, phone, tags: ['a', ' '] }, 'tags.1: must not be empty'],
  ['a label of 51', { name, phone, tags: ['x'.repeat(51)] }, 'tags.0: must have at most 50 characters'],
  ['a number as label', { name, phone, tags: [5] }, 'tags.0: must be a string'],
  ['null as label', { name, phone, tags: [null] }, /^tags\.0: must/],
  ['a list of values', { name, phone, custom: ['a'] }, 'custom: must be an object'],
  ['a text in place of values', { name, phone, custom: 'a' }, 'custom: must be an object'],
  ['a value of values', { name, phone, custom: { a: { b: 'c' } } }, 'custom.a: must be a string, a number, true or false'],
  [
    'a number with lost digits',
    { name, phone, custom: { a: 2 ** 53 } },
    'custom.a: must be a string, because it has too many digits',
  ],
  ['a name of blanks', { name: ' \t\u2003\u0085', phone }, 'name: must not be blank'],
  ['a last name of blanks', { name, phone, lastName: ' ' }, 'lastName: must not be blank'],
  ['a value of 1025', { name, phone, custom: { a: 'x'.repeat(1025) } }, 'custom.a: must have at most 1024 characters'],
  [
    '51 values',
    { name, phone, custom: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, ''])) },
    /^custom: must have at most 50 keys/,
  ],
  ['a value without a name', { name, phone, custom: { '': 'x' } }, 'custom: must have keys of 1 to 100 characters'],
  [
    'a name of 101 for a value',
    { name, phone, custom: { ['x'.repeat(101)]: 'x' } },
    'custom: must have keys of 1 to 100 characters',
  ],
  [
    'much at once',
    { name: '', phone: '5', email: 5, tags: [''], custom: { a: [] } },
    /^name: .*; phone: .*; email: .*; tags\.0: .*; custom\.a: /,
  ],
]

export const badGroups: Refused[] = [
  ['nothing', {}, 'name: is required'],
  ['a list in place of the body', [], 'body: must be a JSON object'],
  ['an empty name', { name: '' }, 'name: must not be empty'],
  ['null in place of a name', { name: null }, 'name: must not be null'],
  ['a name of blanks', { name: '\u00a0 ' }, 'name: must not be blank'],
  ['a name of 201', { name: 'x'.repeat(201) }, 'name: must have at most 200 characters'],
  ['NUL in its name', { name: 'a\0' }, /^name: must not contain NUL/],
  ['a description of 1001', { name: 'x', description: 'x'.repeat(1001) }, 'description: must have at most 1000 characters'],
  ['a number as description', { name: 'x', description: 5 }, 'description: must be a string'],
]
