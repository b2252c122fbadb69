import { createHash } from 'node:crypto'

/** Half of a surrogate pair, which UTF-8 cannot hold. */
const lone = /\p{Surrogate}/gu

/** Returns a text as the cluster stores it: with U+FFFD for each lone surrogate. */
const wellFormed = (text: string): string => text.replace(lone, '\uFFFD')

/** Marks what JSON cannot hold. */
const mark = '$dormouse'

/**
 * Returns a value as JSON that decode turns back. Bytes become base64; members that are undefined are left out. A
 * value that says itself what its JSON is, such as a Date or a URL, becomes that. Lone surrogates become U+FFFD, as the
 * cluster stores them: so what is encoded is equal to what is read back.
 */
export function encode(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return { [mark]: 'bytes', base64: Buffer.from(value).toString('base64') }
  if ('toJSON' in value && typeof value.toJSON === 'function') return encode((value.toJSON as () => unknown)())
  if (Array.isArray(value)) return value.map(encode)
  const members = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined).map(([name, each]) => [wellFormed(name), encode(each)]))
  return Object.hasOwn(members, mark) ? { [mark]: 'object', members } : members
}

/** Returns the value that encode made JSON of. */
export function decode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(decode)
  const own = value as Record<string, unknown>
  if (Object.hasOwn(own, mark)) {
    if (own[mark] === 'bytes') return new Uint8Array(Buffer.from(own.base64 as string, 'base64'))
    return members(own.members as Record<string, unknown>)
  }
  return members(own)
}

const members = (own: Record<string, unknown>): unknown => Object.fromEntries(Object.entries(own).map(([name, each]) => [name, decode(each)]))

/** Returns JSON text that is equal for equal values: members are in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Returns the hash of a text. */
export const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
