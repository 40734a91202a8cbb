// The words of the pages of templates in English.

export const words = {
  title: 'Templates',
  template: 'Template',
  create: 'New template',
  submit: 'Create template',
  nameHint: 'Unique in the workspace.',
  type: 'Type',
  text: 'Text',
  textHint: 'Placeholders: {{contact.firstName}}, or {{custom.order}} for a value of your own.',
  file: 'Address of the file',
  campaigns: 'Campaigns',
  changed: 'Changed',
  emptyTitle: 'No templates yet',
  empty: 'A template is a text with placeholders, which each message fills with its own values.',
  preview: 'Preview',
  fromContact: (names: string) => `The contact of each recipient gives: ${names}.`,
  deleteTitle: 'Delete template',
  deleteNote: 'Messages and campaigns that were made of it stay as they are.',
}
