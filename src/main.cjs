// Starts the gateway (run.ts), if this Node can. `main.ts` is a link to this file: an older Node refuses to read a TypeScript file, but
// follows a link before it looks at the name.
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  console.error(
    `Node ${process.versions.node} is too old: start with \`npm start\`, which uses the Node that \`npm ci\` installed, or install Node 24`,
  )
  process.exitCode = 1
} else {
  // The kernel drops a signal that the first process of a container does not handle, so `docker stop` would wait for its time limit while
  // the modules load. run.ts takes these signals over.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => process.exit())
  void import('./run.ts')
}
