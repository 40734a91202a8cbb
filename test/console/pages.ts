// The pages of the console, for the tests that hold on each of them. A new page joins by one line.

/** The address, its heading, and `form` if nothing of it is read from the gateway, `shared` if it shows what other tests do. */
export type PageOfConsole = [path: string, h1: string | RegExp, kind?: 'form' | 'shared']

/** For people who are signed in. `{message}` is the id of the message of the scene. */
export const pages: PageOfConsole[] = [
  ['/me', 'Home'],
  ['/me/messages', 'Messages'],
  ['/me/messages/{message}', 'Message'],
  ['/me/send', 'Send a message', 'form'],
  ['/me/live', 'Live', 'form'],
  ['/me/instances', 'Instances'],
  ['/me/instances/{instance}', 'Shop phone'],
  ['/me/campaigns', 'Campaigns'],
  ['/me/campaigns/new', 'New campaign', 'form'],
  ['/me/campaigns/{campaign}', 'News'],
  ['/me/contacts', 'Contacts'],
  ['/me/contacts/{contact}', 'Berta'],
  ['/me/groups/{group}', 'Regulars'],
  ['/me/templates', 'Templates'],
  ['/me/templates/{template}', 'Order left'],
  ['/me/suppressions', 'Do not contact'],
  ['/me/webhooks', 'Webhooks'],
  ['/me/webhooks/{endpoint}', /^http:/],
  ['/me/webhooks/{endpoint}/deliveries/{delivery}', 'Instance connected'],
  ['/me/keys', 'API keys'],
  ['/me/events', 'Events'],
  ['/me/usage', 'Usage'],
  ['/me/billing', 'Billing'],
  ['/account', 'Account'],
  ['/operator', 'Operator', 'shared'],
  ['/t/{team}', 'Home'],
  ['/t/{team}/keys', 'API keys'],
  ['/t/{team}/team', 'Team'],
]

/** For people who are not. */
export const openPages: PageOfConsole[] = [
  ['/sign-in', 'Sign in', 'form'],
  ['/sign-up', 'Create an account', 'form'],
  ['/reset-password', 'Reset your password', 'form'],
  ['/reset-password?token=x', 'Reset your password', 'form'],
  ['/verify-email?token=x', 'Verify your e-mail address', 'form'],
]

/** Addresses that lead nowhere: unknown ones, and ids of others. */
export const missingPages: PageOfConsole[] = [
  ['/me/nothing', 'Not found', 'form'],
  ['/t/01980000-0000-7000-8000-000000000009', 'Not found', 'form'],
  ...['messages', 'instances', 'campaigns', 'contacts', 'groups', 'templates', 'webhooks'].map(
    (folder): PageOfConsole => [`/me/${folder}/01980000-0000-7000-8000-000000000009`, 'Not found'],
  ),
]

/** The name of the file that has what a page shows. */
export function nameOf([path]: PageOfConsole): string {
  return path.replace(/\?.*/, '-token').replace(/^\//, '').replaceAll(/[{}]/g, '').replaceAll('/', '-')
}
