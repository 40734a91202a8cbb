// Starts the gateway (run.ts), if this Node can. `main.ts` is a link to this file: an older Node refuses to read a TypeScript file, but
// follows a link before it looks at the name.
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  console.error(
    `Node ${process.versions.node} is too old: start with \`npm start\`, which uses the Node that \`npm ci\` installed, or install Node 24`,
  )
  process.exitCode = 1
} else void import('./run.ts')
