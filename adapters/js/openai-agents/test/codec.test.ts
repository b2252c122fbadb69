import { canonical, decode, encode } from '../src/codec.js'

const kept = (value: unknown): unknown => decode(JSON.parse(canonical(encode(value))))

describe('items', () => {
  it('keep the JSON of dates, URLs and other values with toJSON', () => {
    const at = new Date(0)
    expect(kept({ at, url: new URL('http://a/b'), all: [at], own: { toJSON: () => ({ at }) } }))
      .toEqual({ at: '1970-01-01T00:00:00.000Z', url: 'http://a/b', all: ['1970-01-01T00:00:00.000Z'], own: { at: '1970-01-01T00:00:00.000Z' } })
  })

  it('keep bytes as bytes', () => {
    expect(kept({ image: new Uint8Array([1, 2]), buffer: Buffer.from([3]), none: undefined })).toEqual({ image: new Uint8Array([1, 2]), buffer: new Uint8Array([3]) })
  })

  it('have U+FFFD for lone surrogates, as the cluster stores them', () => {
    const cut = '\ud83d'
    expect(kept({ text: `a${cut}`, [`\udc00k`]: [`😀${cut}b`] })).toEqual({ text: 'a\ufffd', '\ufffdk': ['😀\ufffdb'] })
    expect(canonical(encode({ text: cut }))).toBe(canonical(encode(kept({ text: cut }))))
  })
})
