// The words of refusals in English. A sentence that begins with the one of the gateway stands in its place.

export const words = {
  INVALID_CREDENTIALS: 'Wrong e-mail address or password.',
  EMAIL_NOT_VERIFIED: 'The e-mail address is not verified yet.',
  INVALID_TOKEN: 'This link was already used or has expired.',
  FORBIDDEN: 'You are not allowed to do this.',
  NOT_FOUND: 'It does not exist any more.',
  TEAM_NOT_FOUND: 'You are no longer in this team.',
  SUBSCRIPTION_INACTIVE:
    'Your subscription does not allow this action: it is inactive, or the account is suspended. Its owner reads under Billing what to do.',
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED:
    'The monthly outbound quota is used up. Choose a larger plan under Billing, or wait for the next billing period.',
  WEBHOOKS_NOT_AVAILABLE_ON_PLAN: 'Webhooks are not available on this plan. Choose another one under Billing.',
  MAX_WEBHOOK_ENDPOINTS_REACHED: 'The plan allows no more webhook endpoints. Delete one, or choose a larger plan under Billing.',
  MAX_INSTANCES_REACHED: 'The plan allows no more instances. Delete one, or choose a larger plan under Billing.',
  MAX_API_KEYS_REACHED: 'The plan allows no more API keys. Revoke one, or choose a larger plan under Billing.',
  MAX_CONTACT_GROUPS_REACHED: 'The plan allows no more contact groups. Delete one, or choose a larger plan under Billing.',
  MEDIA_STORAGE_EXCEEDED: 'The plan has no storage left for files. Choose a larger plan under Billing.',
  MAX_TEAMS_REACHED: 'The plan allows no more teams. Choose a larger plan under Billing.',
  MAX_TEAM_SEATS_REACHED: 'The plan allows no more seats in this team. Remove a member, or withdraw an invitation.',
  BILLING_TEAM_MUTATION_FORBIDDEN: 'Only the owner can change the billing of a team.',
  BILLING_PAYMENTS_TEAM_OWNER_ONLY: 'Only the owner can see the payments of a team.',
  PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: 'Your teams do not fit into this plan.',
  CONFLICT: 'This already exists.',
  INVALID_STATE: 'This is not possible in the current state.',
  RECIPIENT_SUPPRESSED: 'The recipient is in the do-not-contact list. Do not send to this number again.',
  IDEMPOTENCY_IN_PROGRESS: 'This is still being done. Try again in a moment.',
  IDEMPOTENCY_KEY_REUSED: 'This was already done with other values. Load the page again.',
  PAYLOAD_TOO_LARGE: 'This is too large.',
  PROVIDER_ERROR: 'The network refused this.',
}
