/** One server-sent event. */
export interface ServerEvent {
  event: string
  data: string
  /** The last id of the stream so far. */
  id: string
}

/**
 * Reads server-sent events. An event without data is passed on too: it has only an id. alive is called for each
 * piece that arrives, also for one of a comment or of an event that is not complete.
 */
export async function* parseEvents(body: ReadableStream<Uint8Array>, alive: () => void): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader()
  let unfinished: string[] = [] // the pieces of a line are joined at its end
  let afterCR = false
  let event = ''
  let data: string[] = []
  let id = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      alive()
      if (value === '') continue
      const text: string = afterCR && value.startsWith('\n') ? value.slice(1) : value // the second half of a CR LF
      afterCR = text.endsWith('\r')
      const [first, ...others] = text.split(/\r\n|\n|\r/)
      unfinished.push(first!)
      for (const begun of others) {
        const line = unfinished.join('')
        unfinished = [begun]
        if (line === '') {
          yield { event: event || 'message', data: data.join('\n'), id }
          event = ''
          data = []
          continue
        }
        const colon = line.indexOf(':')
        const field = colon < 0 ? line : line.slice(0, colon)
        const content = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (field === 'event') event = content
        else if (field === 'data') data.push(content)
        else if (field === 'id' && !content.includes('\0')) id = content
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
