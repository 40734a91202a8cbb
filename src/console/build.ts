// Builds the console: `node src/console/build.ts`. Does nothing if the last build had the same inputs.
import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Manifest as ViteManifest } from 'vite'
import { type BuiltFile, builtFolder, type Manifest, readManifest } from './manifest.ts'

const root = path.join(import.meta.dirname, '../..')

/** Everything that the result depends on: our sources, and the versions of the packages. */
async function hashInputs(): Promise<string> {
  const entries = await readdir(import.meta.dirname, { recursive: true, withFileTypes: true })
  const ours = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(builtFolder))
  const hash = createHash('sha256')
  for (const file of [...ours.sort(), path.join(root, 'package-lock.json')]) {
    hash.update(`${path.relative(root, file)}\0`).update(await readFile(file))
  }
  return hash.digest('hex')
}

/** Writes a file's gzip and brotli forms beside it, and returns the three sizes. */
async function compress(file: string): Promise<BuiltFile> {
  const bytes = await readFile(file)
  const [zipped, brotlied] = await Promise.all([
    promisify(gzip)(bytes, { level: 9 }),
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  ])
  await Promise.all([writeFile(`${file}.gz`, zipped), writeFile(`${file}.br`, brotlied)])
  return { plain: bytes.length, gzip: zipped.length, brotli: brotlied.length }
}

/** The files that a source file loads: its own, its styles, and those of everything that it imports statically. */
function loadedBy(chunks: ViteManifest, source: string, seen = new Set<string>()): string[] {
  const chunk = chunks[source]
  if (!chunk || seen.has(source)) return []
  seen.add(source)
  const imported = (chunk.imports ?? []).flatMap((name) => loadedBy(chunks, name, seen))
  return [...new Set([chunk.file, ...(chunk.css ?? []), ...imported])].map((file) => path.basename(file))
}

async function build(inputs: string): Promise<void> {
  const vite = await import('vite')
  await vite.build({ configFile: path.join(import.meta.dirname, 'vite.config.ts') })
  const chunks = JSON.parse(await readFile(path.join(builtFolder, 'vite-manifest.json'), 'utf8')) as ViteManifest
  const folder = path.join(builtFolder, 'assets')
  const names = (await readdir(folder)).sort()
  const assets = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await compress(path.join(folder, name))] as const)),
  )
  const shell = await readFile(path.join(builtFolder, 'index.html'), 'utf8')
  const first = [...shell.matchAll(/"\.\/assets\/([^"]+)"/g)].map(([, name]) => name as string)
  const pages = Object.fromEntries(
    Object.entries(chunks)
      .filter(([, { isDynamicEntry }]) => isDynamicEntry)
      .map(([source]) => [source, loadedBy(chunks, source).filter((file) => !first.includes(file))]),
  )
  const manifest: Manifest = { inputs, assets, first, pages }
  // Written last and renamed, so that a build that was interrupted counts as none.
  const file = path.join(builtFolder, 'manifest.json')
  await writeFile(`${file}.new`, JSON.stringify(manifest, null, 2))
  await rename(`${file}.new`, file)
  await rm(path.join(builtFolder, 'vite-manifest.json'))
}

const inputs = await hashInputs()
if (readManifest()?.inputs !== inputs) await build(inputs)
