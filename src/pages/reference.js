// Shows the two OpenAPI documents with Scalar: the one for API keys first, each with its own authentication scheme.

const settings = {
  // Without these, Scalar loads fonts from, and calls services of, its vendor.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  orderSchemaPropertiesBy: 'preserve',
}

withKey((key, base) => {
  Scalar.createApiReference('#root', [
    {
      ...settings,
      title: 'API, with a key',
      slug: 'api',
      url: `${base}api/v1/openapi.json`,
      default: true,
      authentication: { preferredSecurityScheme: 'ApiKey', securitySchemes: { ApiKey: { value: key } } },
    },
    {
      ...settings,
      title: 'Console, signed in',
      slug: 'console',
      url: `${base}api/openapi.json`,
      authentication: { preferredSecurityScheme: 'AccessToken' },
    },
  ])
})
