// The words of the warnings of the shell in English.

export const words = {
  name: 'Warnings',
  hide: 'Hide the warnings',
  more: (n: string) => `${n} more`,
  fewer: 'Show one',
  past_due: 'The last payment failed. Everything works until the subscription is cancelled.',
  inactive: 'The subscription is inactive: nothing is created or sent.',
  suspended: 'The account of this workspace is suspended: nothing is created or sent. Ask the operator of this gateway.',
  stopped: (owner: string) => `The subscription of this team is not active: nothing is created or sent. Ask its owner, ${owner}.`,
  messages: {
    nearly: (share: string, most: string) => `${share} of the ${most} messages of this month are used.`,
    usedUp: 'The messages of this month are used up: no more are accepted.',
  },
  requests: {
    nearly: (share: string, most: string) => `${share} of the ${most} API requests of this month are used.`,
    usedUp: 'The API requests of this month are used up: keys are refused.',
  },
  newVersion: 'There is a new version of this console. Load it.',
  disconnected: (name: string) => `${name} is disconnected: its messages wait.`,
  loggedOut: (name: string) => `${name} is logged out: its messages wait until it is paired again.`,
  instancesDown: (n: string) => `${n} instances are not connected: their messages wait.`,
  endpointDisabled: (host: string) => `The webhook endpoint at ${host} is disabled: it gets no events.`,
  endpointsDisabled: (n: string) => `${n} webhook endpoints are disabled: they get no events.`,
}
