// The version of the gateway, as package.json has it.
import packageJson from '../../package.json' with { type: 'json' }

export const { version } = packageJson
