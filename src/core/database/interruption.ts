// Lets a command leave something in order before a signal ends it.

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Then the signal ends the process, whatever it waits for. */
const leaveWithinMs = 5_000

/** Calls `leave` at the first of these signals, which ends the process afterwards. Returns a function that takes this back. */
export function onInterruption(leave: () => Promise<void>): () => void {
  let interrupted = false
  function interrupt(name: NodeJS.Signals): void {
    // Often a second one follows at once: npm passes on the signals that the terminal sends anyway.
    if (interrupted) return
    interrupted = true
    const end = () => {
      forget()
      process.kill(process.pid, name)
    }
    setTimeout(end, leaveWithinMs)
    leave().then(end, end)
  }
  function forget(): void {
    for (const name of names) process.off(name, interrupt)
  }
  for (const name of names) process.on(name, interrupt)
  return forget
}
