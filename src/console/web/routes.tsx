// All addresses of the console. Each page is a chunk of its own; the shell is in the first one.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { settings } from './settings.ts'
import { Broken } from './shell/broken.tsx'
import { NotFound } from './shell/not-found.tsx'
import { RequireSession, Start, ToBilling } from './shell/require-session.tsx'
import { Workspace } from './shell/workspace.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Broken })
const at = (path: string, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component })

const signIn = lazyRouteComponent(() => import('./session/sign-in.tsx'), 'SignIn')
const home = lazyRouteComponent(() => import('./home/home.tsx'), 'Home')
const messages = lazyRouteComponent(() => import('./messages/messages.tsx'), 'Messages')
const message = lazyRouteComponent(() => import('./messages/message.tsx'), 'Message')
const send = lazyRouteComponent(() => import('./send/send.tsx'), 'Send')
const tail = lazyRouteComponent(() => import('./live-tail/live-tail.tsx'), 'LiveTail')
const instances = lazyRouteComponent(() => import('./instances/instances.tsx'), 'Instances')
const instance = lazyRouteComponent(() => import('./instances/instance.tsx'), 'Instance')
const campaigns = lazyRouteComponent(() => import('./campaigns/campaigns.tsx'), 'Campaigns')
const newCampaign = lazyRouteComponent(() => import('./campaigns/new-campaign.tsx'), 'NewCampaign')
const campaign = lazyRouteComponent(() => import('./campaigns/campaign.tsx'), 'Campaign')
const contacts = lazyRouteComponent(() => import('./contacts/contacts.tsx'), 'Contacts')
const contact = lazyRouteComponent(() => import('./contacts/contact.tsx'), 'Contact')
const group = lazyRouteComponent(() => import('./contacts/group.tsx'), 'Group')
const templates = lazyRouteComponent(() => import('./templates/templates.tsx'), 'Templates')
const template = lazyRouteComponent(() => import('./templates/template.tsx'), 'Template')
const suppressions = lazyRouteComponent(() => import('./suppressions/suppressions.tsx'), 'Suppressions')
const webhooks = lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'Webhooks')
const endpoint = lazyRouteComponent(() => import('./webhooks/endpoint.tsx'), 'Endpoint')
const delivery = lazyRouteComponent(() => import('./webhooks/delivery.tsx'), 'Delivery')
const keys = lazyRouteComponent(() => import('./keys/keys.tsx'), 'Keys')
const events = lazyRouteComponent(() => import('./events/events.tsx'), 'Events')
const billing = lazyRouteComponent(() => import('./billing/billing.tsx'), 'Billing')
const usage = lazyRouteComponent(() => import('./usage/usage.tsx'), 'UsagePage')
const team = lazyRouteComponent(() => import('./team/team.tsx'), 'Team')
const operator = lazyRouteComponent(() => import('./operator/operator.tsx'), 'Operator')
const account = lazyRouteComponent(() => import('./account/account.tsx'), 'Account')

function pagesOf<Path extends '/me' | '/t/$teamId'>(path: Path) {
  const workspace = createRoute({ getParentRoute: () => signedIn, path, component: Workspace })
  const page = (below: string, component: ReturnType<typeof lazyRouteComponent>) =>
    createRoute({ getParentRoute: () => workspace, path: below, component })
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
    lazyRouteComponent(() => import('./session/sign-up.tsx'), 'SignUp'),
  ),
  at(
    'reset-password',
    lazyRouteComponent(() => import('./session/reset-password.tsx'), 'ResetPassword'),
  ),
  at(
    'verify-email',
    lazyRouteComponent(() => import('./session/verify-email.tsx'), 'VerifyEmail'),
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
      component: lazyRouteComponent(() => import('./session/invitation.tsx'), 'Invitation'),
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
