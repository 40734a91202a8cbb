// The words of the fields that find contacts in English.

export const words = {
  contact: 'Contact',
  hint: 'A part of the name or number.',
  found: 'Contacts found',
  foundSome: (n: string) => `Contacts found: ${n}. Choose one with the arrow keys.`,
  none: 'No contact has this name or number.',
  remove: (name: string) => `Remove ${name}`,
  another: 'Another one',
}
