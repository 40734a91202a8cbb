// Runs the operator's command line to its end.
import { execFile } from 'node:child_process'
import { environment, node, root } from './environment.ts'
import { type GatewayOptions, outsideDatabase } from './gateway.ts'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** Runs `gateway ARGS`. A failing exit code does not throw. */
export async function command(args: readonly string[], options: GatewayOptions = {}): Promise<CommandResult> {
  const env = { ...environment, ...outsideDatabase(options.databaseUrl), ...options.env }
  return await new Promise((resolve) => {
    const child = execFile(node, ['src/cli/main.ts', ...args], { cwd: root, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}
