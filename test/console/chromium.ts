// The browser of the tests: Chromium from npm, or another by `CHROMIUM=path`. Nothing has to be installed by hand on Linux x64.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'
import { root } from '../kit/environment.ts'

const packed = path.join(root, 'node_modules/@sparticuz/chromium')

/** Null if there is no browser for this machine. */
export function findChromium(): { executablePath: string; env: Record<string, string> } | null {
  const given = process.env.CHROMIUM
  if (given) return { executablePath: given, env: {} }
  if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(packed)) return null
  const folder = unpack()
  return {
    executablePath: path.join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: path.join(folder, 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') },
  }
}

/** Unpacks it once for each version of the package, beside other caches. Returns the folder. */
function unpack(): string {
  const { version } = JSON.parse(readFileSync(path.join(packed, 'package.json'), 'utf8'))
  const folder = path.join(root, `node_modules/.cache/chromium-${version}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  mkdirSync(making, { recursive: true })
  const read = (name: string) => brotliDecompressSync(readFileSync(path.join(packed, 'bin', name)))
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) execFileSync('tar', ['-x', '-C', making], { input: read(name) })
  writeFileSync(path.join(making, 'chromium'), read('chromium.br'))
  // The one that comes with the fonts looks for them in other folders.
  writeFileSync(
    path.join(making, 'fonts.conf'),
    `<fontconfig><dir>${folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
  )
  chmodSync(path.join(making, 'chromium'), 0o755)
  try {
    renameSync(making, folder)
  } catch {
    // Another process was faster.
    rmSync(making, { recursive: true })
  }
  return folder
}

/** @throws when there is no browser; says what to do. */
export async function launchChromium(): Promise<Browser> {
  const found = findChromium()
  if (!found) throw new Error('The tests of the console need Chromium: install it, and set CHROMIUM to its path.')
  const { executablePath, env } = found
  // A name that is not of this machine to the browser, so that its pages are no secure context.
  const lan = '--host-resolver-rules=MAP gateway.lan 127.0.0.1'
  const args = [lan, '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none']
  return await chromium.launch({ executablePath, args, env: { ...(process.env as Record<string, string>), ...env } })
}
