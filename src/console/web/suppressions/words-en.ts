// The words of the do-not-contact page in English.

export const words = {
  title: 'Do not contact',
  what: 'These numbers get no messages from this workspace. Messages that wait for them are not sent.',
  numbers: 'Numbers',
  number: 'Number',
  numberHint: 'With the country code.',
  reason: 'Reason',
  reasons: { keyword: 'The recipient asked for it', manual: 'Added by hand', network: 'Told by the network' },
  since: 'Since',
  actions: 'Actions',
  add: 'Add number',
  remove: 'Remove',
  removeOf: (phone: string) => `Remove ${phone}`,
  removeNote: 'The number can get messages again. Remove it only if its owner wants that.',
  empty: 'No number is in the list yet.',
  keywords: 'Keywords',
  keywordsEach: 'Keywords, one a line',
  keywordsHint: 'A person who answers with one of them gets no messages any more.',
  reply: 'Answer',
  replyHint: 'Sent once to whoever used a keyword. Empty: no answer.',
}
