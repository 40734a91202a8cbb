// The words of the usage page in English.

export const words = {
  title: 'Usage',
  period: 'This period',
  messages: 'Messages',
  requests: 'API requests',
  media: 'Media',
  days: 'Messages by day',
  day: 'Day',
  daysNote: 'Days are those of UTC. A message counts on each day on which it reached a status.',
  empty: 'Nothing was sent or received in the last 30 days.',
}
