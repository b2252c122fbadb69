import { refusal } from './errors.js'

/** What happens to half of a surrogate pair in a string, which UTF-8 cannot hold. */
export type LoneSurrogates = 'replace' | 'refuse'

const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/** Returns the text with lone surrogates replaced by U+FFFD, or throws a refusal. */
export function wellFormed(text: string, policy: LoneSurrogates): string {
  if (text.search(lone) < 0) return text
  if (policy === 'refuse') throw refusal('invalid', `the string ${JSON.stringify(text.slice(0, 40))} has a lone surrogate, which UTF-8 cannot hold`)
  return text.replace(lone, '\uFFFD')
}

/** Encodes a body, or throws a refusal if it is no JSON. JSON.stringify writes a lone surrogate as an escape, which a node refuses. */
export function encode(value: unknown, policy: LoneSurrogates): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) { // such as a BigInt
    const error = refusal('invalid', `the body is no JSON: ${String(cause)}`)
    error.cause = cause
    throw error
  }
  if (text === undefined) throw refusal('invalid', `the body is no JSON: it is a ${typeof value}`)
  if (!text.includes('\\ud')) return text
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'string') return wellFormed(member, policy)
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member
    if (Object.keys(member).every((name) => name.search(lone) < 0)) return member // an object of JSON.rawJSON must stay the same
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [wellFormed(name, policy), each]))
  })
}
