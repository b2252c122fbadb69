/** One server-sent event. */
export interface ServerEvent {
  event: string
  data: string
  /** The last id of the stream so far. */
  id: string
}

/**
 * Reads server-sent events. An event without data is passed on too: it has only an id. Each comment is
 * passed on as undefined, as a sign of life.
 */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent | undefined, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  let event = ''
  let data: string[] = []
  let id = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += value
      // A CR at the end may be the first half of a CR LF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          yield { event: event || 'message', data: data.join('\n'), id }
          event = ''
          data = []
          continue
        }
        if (line.startsWith(':')) {
          yield undefined
          continue
        }
        const colon = line.indexOf(':')
        const field = colon < 0 ? line : line.slice(0, colon)
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (field === 'event') event = text
        else if (field === 'data') data.push(text)
        else if (field === 'id' && !text.includes('\0')) id = text
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
