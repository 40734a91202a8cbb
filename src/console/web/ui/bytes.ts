// Shows a size in bytes.

/** In MB, from a gibibyte on in GB. */
export function bytes(size: number): string {
  const [unit, value] = size >= 1_073_741_824 ? ['gigabyte', size / 1_073_741_824] : ['megabyte', size / 1_048_576]
  const format = { style: 'unit', unit, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(document.documentElement.lang, format).format(value)
}
