// Address of an instance's webhook, which Meta calls.
import type { Config } from '../../core/config/config.ts'

/** The longest that Meta takes, in characters. */
export const longestCallback = 200

/** Undefined on a server without a public address. */
export function callbackUrlOf({ cloud }: Pick<Config, 'cloud'>, instanceId: string): string | undefined {
  return cloud.callbackBase ? `${cloud.callbackBase}/providers/cloud/${instanceId}` : undefined
}
