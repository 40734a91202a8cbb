// The part of oidc-provider that the tests use. Its published types bring 17 packages.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Context {
    path: string
    req: IncomingMessage
    res: ServerResponse
    redirect(location: string): void
    oidc: { session?: { accountId?: string }; client?: { clientId: string } }
  }

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Configuration {
    findAccount(context: Context, sub: string): { accountId: string; claims(): object }
    interactions: { url(context: Context, interaction: { uid: string }): string }
    loadExistingGrant(context: Context): Promise<Grant>
    [setting: string]: unknown
  }

  // biome-ignore lint/style/noDefaultExport: as the library exports it
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    Grant: new (of: {
      accountId?: string
      clientId?: string
    }) => Grant
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    interactionResult(request: IncomingMessage, response: ServerResponse, result: object): Promise<string>
    callback(): RequestListener
  }
}
