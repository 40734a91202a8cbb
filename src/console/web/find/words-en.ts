// The words of Find in English.

export const words = {
  placeholder: 'Pages, names, numbers and ids',
  looking: 'Looking …',
  nothing: 'Nothing is called that.',
  kinds: {
    Message: 'Message',
    Contact: 'Contact',
    ContactGroup: 'Group',
    Campaign: 'Campaign',
    Instance: 'Instance',
    Template: 'Template',
    WebhookEndpoint: 'Endpoint',
    WebhookDelivery: 'Delivery',
  },
}
