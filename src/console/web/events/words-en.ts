// The words of the page of events in English.

export const words = {
  title: 'Events',
  time: 'Time',
  type: 'Type',
  all: 'All',
  about: 'About',
  content: 'Content',
  show: 'Show',
  showNew: (n: string) => `Show ${n} new`,
  newest: 'Show the newest',
  older: 'Show older',
  empty: 'Nothing has happened yet. Events are kept for 30 days.',
  emptyFiltered: 'There is no event of this type in the last 30 days.',
}
