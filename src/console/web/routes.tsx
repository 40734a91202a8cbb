// All addresses of the console. Each page is a chunk of its own; the shell is in the first one.
import { createRootRoute, createRoute, createRouter, type lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { pageChunk } from './page-chunk.tsx'
import { settings } from './settings.ts'
import { Broken } from './shell/broken.tsx'
import { NotFound } from './shell/not-found.tsx'
import { RequireSession, Start, ToBilling } from './shell/require-session.tsx'
import { Workspace } from './shell/workspace.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Broken })
const at = (path: string, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component })

const signIn = pageChunk(() => import('./session/sign-in.tsx'), 'SignIn')
const home = pageChunk(() => import('./home/home.tsx'), 'Home')
const messages = pageChunk(() => import('./messages/messages.tsx'), 'Messages')
const message = pageChunk(() => import('./messages/message.tsx'), 'Message')
const send = pageChunk(() => import('./send/send.tsx'), 'Send')
const tail = pageChunk(() => import('./live-tail/live-tail.tsx'), 'LiveTail')
const instances = pageChunk(() => import('./instances/instances.tsx'), 'Instances')
const instance = pageChunk(() => import('./instances/instance.tsx'), 'Instance')
const campaigns = pageChunk(() => import('./campaigns/campaigns.tsx'), 'Campaigns')
const newCampaign = pageChunk(() => import('./campaigns/new-campaign.tsx'), 'NewCampaign')
const campaign = pageChunk(() => import('./campaigns/campaign.tsx'), 'Campaign')
const contacts = pageChunk(() => import('./contacts/contacts.tsx'), 'Contacts')
const contact = pageChunk(() => import('./contacts/contact.tsx'), 'Contact')
const group = pageChunk(() => import('./contacts/group.tsx'), 'Group')
const templates = pageChunk(() => import('./templates/templates.tsx'), 'Templates')
const template = pageChunk(() => import('./templates/template.tsx'), 'Template')
const suppressions = pageChunk(() => import('./suppressions/suppressions.tsx'), 'Suppressions')
const webhooks = pageChunk(() => import('./webhooks/webhooks.tsx'), 'Webhooks')
const endpoint = pageChunk(() => import('./webhooks/endpoint.tsx'), 'Endpoint')
const delivery = pageChunk(() => import('./webhooks/delivery.tsx'), 'Delivery')
const keys = pageChunk(() => import('./keys/keys.tsx'), 'Keys')
const events = pageChunk(() => import('./events/events.tsx'), 'Events')
const billing = pageChunk(() => import('./billing/billing.tsx'), 'Billing')
const usage = pageChunk(() => import('./usage/usage.tsx'), 'UsagePage')
const team = pageChunk(() => import('./team/team.tsx'), 'Team')
const operator = pageChunk(() => import('./operator/operator.tsx'), 'Operator')
const account = pageChunk(() => import('./account/account.tsx'), 'Account')

function pagesOf<Path extends '/me' | '/t/$teamId'>(path: Path) {
  const workspace = createRoute({ getParentRoute: () => signedIn, path, component: Workspace })
  // The page of another record is a new one: what was typed or refused on the page before stays with its record.
  const page = (below: string, component: ReturnType<typeof lazyRouteComponent>) =>
    createRoute({ getParentRoute: () => workspace, path: below, component, remountDeps: ({ params }) => params })
  return workspace.addChildren([
    page('/', home),
    page('messages', messages),
    page('messages/$messageId', message),
    page('send', send),
    page('live', tail),
    page('instances', instances),
    page('instances/$instanceId', instance),
    page('campaigns', campaigns),
    page('campaigns/new', newCampaign),
    page('campaigns/$campaignId', campaign),
    page('contacts', contacts),
    page('contacts/$contactId', contact),
    page('groups/$groupId', group),
    page('templates', templates),
    page('templates/$templateId', template),
    page('suppressions', suppressions),
    page('webhooks', webhooks),
    page('webhooks/$webhookId', endpoint),
    page('webhooks/$webhookId/deliveries/$deliveryId', delivery),
    page('keys', keys),
    page('events', events),
    page('usage', usage),
    page('billing', billing),
    page('team', team),
    page('$', NotFound as never),
  ])
}

const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: RequireSession })
const accountShell = createRoute({ getParentRoute: () => signedIn, id: 'account-shell', component: Workspace })

const tree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/', component: Start }),
  at('sign-in', signIn),
  at(
    'sign-up',
    pageChunk(() => import('./session/sign-up.tsx'), 'SignUp'),
  ),
  at(
    'reset-password',
    pageChunk(() => import('./session/reset-password.tsx'), 'ResetPassword'),
  ),
  at(
    'verify-email',
    pageChunk(() => import('./session/verify-email.tsx'), 'VerifyEmail'),
  ),
  signedIn.addChildren([
    pagesOf('/me'),
    pagesOf('/t/$teamId'),
    accountShell.addChildren([
      createRoute({ getParentRoute: () => accountShell, path: 'account', component: account }),
      createRoute({ getParentRoute: () => accountShell, path: 'operator', component: operator }),
    ]),
    // The payment provider leads back here.
    createRoute({ getParentRoute: () => signedIn, path: 'billing', component: ToBilling }),
    createRoute({
      getParentRoute: () => signedIn,
      path: 'invitation',
      component: pageChunk(() => import('./session/invitation.tsx'), 'Invitation'),
    }),
  ]),
])

export const router = createRouter({
  routeTree: tree,
  basepath: settings.base || '/',
  defaultPreload: 'intent',
  // Plain addresses: a value is what is written, never JSON.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString()
    return text && `?${text}`
  },
  scrollRestoration: true,
})
