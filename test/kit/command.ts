// Runs the operator's command line to its end.
import { execFile } from 'node:child_process'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { environment, node, root } from './environment.ts'
import { type GatewayOptions, outsideDatabase } from './gateway.ts'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

/** Runs `gateway ARGS` as a process of its own. A failing exit code does not throw. */
export async function commandProcess(args: readonly string[], options: GatewayOptions = {}): Promise<CommandResult> {
  return await new Promise((resolve) => {
    const child = execFile(node, ['src/cli/main.ts', ...args], { cwd: root, env: envOf(options) }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `gateway ARGS` inside the test's process, which costs a tenth of a process of its own. One command runs at a time, because
 * it has the environment and the console of the process to itself. `onPrint` gets each text that it prints, at once.
 */
export async function command(
  args: readonly string[],
  { onPrint, ...options }: GatewayOptions & { onPrint?: (text: string) => void } = {},
): Promise<CommandResult> {
  const result = last.then(() => run(args, envOf(options), onPrint))
  last = result.catch(() => {})
  return await result
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv, onPrint?: (text: string) => void): Promise<CommandResult> {
  const { runCommand } = await import('../../src/cli/main.ts')
  // `doctor` bounds every later `fetch` of its process.
  const dispatcher = getGlobalDispatcher()
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const own = { env: process.env, log: console.log, error: console.error }
  process.env = env
  console.log = (text) => {
    stdout.push(`${text}\n`)
    onPrint?.(String(text))
  }
  console.error = (text) => void stderr.push(`${text}\n`)
  try {
    const code = await runCommand(args)
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  } finally {
    setGlobalDispatcher(dispatcher)
    process.env = own.env
    console.log = own.log
    console.error = own.error
  }
}

function envOf({ databaseUrl, env }: GatewayOptions): NodeJS.ProcessEnv {
  return { ...environment, ...outsideDatabase(databaseUrl), ...env }
}
