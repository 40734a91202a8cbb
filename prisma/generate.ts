// `npm run generate`: runs the generators unless nothing has changed since they last ran. `npm ci` runs it, and `npm test` again.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const record = path.join(root, 'node_modules/.cache/generated')

/** The generators read models and sources; they write the rest, which is included, because someone may change or delete it. */
const files = ['prisma/**/*.prisma', '{src,rest-compat,test/client}/**/*.{ts,graphql}', '*.ts', 'package-lock.json']

function digest(): string {
  const hash = createHash('sha256')
  for (const file of globSync(files, { cwd: root }).sort()) hash.update(`${file}\0`).update(readFileSync(path.join(root, file)))
  return hash.digest('hex')
}

function known(): string | undefined {
  try {
    return readFileSync(record, 'utf8')
  } catch {
    return undefined
  }
}

function run(file: string): boolean {
  return spawnSync(process.execPath, [file], { cwd: root, stdio: 'inherit' }).status === 0
}

if (known() !== digest()) {
  if (run('prisma/generators.ts') && run('codegen.ts')) {
    mkdirSync(path.dirname(record), { recursive: true })
    writeFileSync(record, digest())
  } else process.exitCode = 1
}
