// Shows GraphiQL with example operations, which the page has as its settings.

withKey((key, base) => {
  const workers = { json: 'json', graphql: 'graphql' }
  globalThis.MonacoEnvironment = {
    globalAPI: false,
    getWorkerUrl: (_, label) => `${base}docs/assets/${workers[label] ?? 'editor'}-worker.js`,
  }
  const { tabs } = JSON.parse(document.body.dataset.settings)
  YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
    title: document.title,
    endpoint: `${base}graphql`,
    additionalHeaders: key ? { 'x-api-key': key } : {},
    subscriptionsProtocol: 'SSE',
    // Keeps API keys out of the browser's storage.
    shouldPersistHeaders: false,
    // Opens the first tab. GraphiQL identifies it among the stored tabs by its content.
    ...tabs[0],
    defaultTabs: tabs,
  })
})
