// The words of the page Live in English.

export const words = {
  title: 'Live',
  log: 'Events',
  pause: 'Pause',
  resume: 'Resume',
  waiting: (n: string) => `${n} wait`,
  rate: (n: string) => `${n} per second`,
  quiet: 'Nothing happened since you opened this page. Send a message, and watch it here.',
  noneOfType: 'No event of this type has come.',
  type: 'Type of event',
  busy: 'Too many events to show each: counts only.',
  all: 'All',
}
