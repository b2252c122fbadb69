// Parts of ECMAScript that TypeScript does not know yet. Browsers before 2025 have none of them.
declare global {
  interface JSON {
    rawJSON?: (text: string) => object
    isRawJSON?: (value: unknown) => boolean
  }
}

/** Returns a number as a value that JSON has again as it was written: a whole number that no double holds is an object of JSON.rawJSON. */
function exact(value: number, source: string | undefined): unknown {
  return !Number.isSafeInteger(value) && source !== undefined && /^-?[1-9]\d*$/.test(source) ? (JSON.rawJSON?.(source) ?? value) : value
}

/** Decodes JSON with exact whole numbers. Browsers before 2025 round them. */
export function parse(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key: string, value: unknown, ...context: { source: string }[]) => (typeof value === 'number' ? exact(value, context[0]?.source) : value))
}

/** Reports whether a decoded value is a number. */
export const isNumber = (value: unknown): boolean => typeof value === 'number' || (JSON.isRawJSON?.(value) ?? false)

/** Returns the number of a text; undefined if it is none. */
export function numberOf(text: string): unknown {
  const value = Number(text)
  return text.trim() === '' || Number.isNaN(value) ? undefined : exact(value, text.trim())
}
