/** The member that marks what JSON does not have. */
const mark = '$dormouse'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Returns a value as JSON. It keeps bytes and dates; members that are undefined are left out. */
export function encode(value: unknown): string {
  return JSON.stringify(pack(value))
}

function pack(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [mark]: 'bytes', value: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
  if (value instanceof Date) return { [mark]: 'date', value: value.getTime() }
  if (Array.isArray(value)) return value.map(pack)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, each]) => [name, pack(each)])
  return Object.hasOwn(value, mark) ? { [mark]: 'object', value: members } : Object.fromEntries(members)
}

/** Returns what encode was given. */
export function decode<T>(text: string): T {
  return unpack(JSON.parse(text) as Json) as T
}

function unpack(value: Json): unknown {
  if (Array.isArray(value)) return value.map(unpack)
  if (typeof value !== 'object' || value === null) return value
  if (!Object.hasOwn(value, mark)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpack(each)]))
  const inner = value.value as Json
  if (value[mark] === 'bytes') return new Uint8Array(Buffer.from(inner as string, 'base64'))
  if (value[mark] === 'date') return new Date(inner as number)
  return Object.fromEntries((inner as [string, Json][]).map(([name, each]) => [name, unpack(each)]))
}
