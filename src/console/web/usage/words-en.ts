// The words of the usage page in English.

export const words = {
  title: 'Usage',
  closed: 'The owner and the admins of a team see its usage.',
  period: 'This period',
  messages: 'Messages',
  requests: 'API requests',
  media: 'Media',
  resets: (at: string) => `It begins anew on ${at}.`,
  projected: (whole: string) => `At this rate ${whole} by its end.`,
  tooMuch: (whole: string, max: string) => `At this rate ${whole} by its end, of ${max}: it will not be enough.`,
  sentByDay: 'Sent messages by day',
  requestsByDay: 'API requests by day',
  days: 'Messages by day',
  day: 'Day',
  daysNote: 'Days are those of UTC. A message counts on each day on which it reached a status. Requests are those with a key.',
  empty: 'Nothing was sent or received in the last 30 days.',
}
