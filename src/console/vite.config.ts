// Configures Vite: how the console is built, and how it is served while it is developed (`npm run console`).
import path from 'node:path'
import { defineConfig } from 'vite'

const gateway = 'http://127.0.0.1:3000'

/** The packages, and the folders that every page uses: not the pages, their documents and their words, nor charts, forms that save, throttled reads, and the icons of pages. */
function isFirst(file: string): boolean {
  const [, ours] = file.split('/src/console/web/')
  if (!ours) return !file.includes('/icons/')
  return /^(?!ui\/(chart|save-form)|graph\/use-soon)([\w-]+\.tsx?|(generated\/)?(graph|live|shell|ui)\/.*|words\/words\.ts|session\/(auth-call|mail-token|session)\.ts)$/.test(
    ours,
  )
}

export default defineConfig({
  root: path.join(import.meta.dirname, 'web'),
  // Files name each other relatively, so that the gateway may run below a path of another server.
  base: './',
  logLevel: 'warn',
  build: {
    outDir: path.join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    // build.ts reads it, and replaces it by its own.
    manifest: 'vite-manifest.json',
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The policy allows no `data:` font or script, and a small file costs no more than a large one.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // Packages say `use client` to servers that render React; there is none here.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      // One chunk has all that the first page needs, because browsers open six connections only. Every other page is a chunk of its own. The
      // first style sheet decides the order of the layers, so it must be that of the first chunk.
      output: { codeSplitting: { groups: [{ name: 'first', test: isFirst }] } },
    },
  },
  css: { modules: { generateScopedName: '[name]-[local]' } },
  server: { proxy: { '^/(api|graphql|media|docs)(/|$)': { target: gateway, changeOrigin: true } } },
})
