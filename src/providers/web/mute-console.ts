// Keeps libsignal off the console: it prints whole session records there, with their private keys.
const methods = ['log', 'info', 'warn', 'error', 'debug'] as const
/** The packages whose lines are dropped, as they stand in a stack. */
const muted = /[\\/]node_modules[\\/](libsignal|baileys)[\\/]/
let done = false

/** Drops what those packages write to the console, for the whole process. Everything else is written as before. */
export function muteSignalKeys(): void {
  if (done) return
  done = true
  for (const method of methods) {
    const write = console[method].bind(console)
    console[method] = (...args: unknown[]) => {
      // The caller stands within the first frames, because these packages call the console directly.
      if (!muted.test(new Error().stack ?? '')) write(...args)
    }
  }
}
