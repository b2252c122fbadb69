import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.js'
import { readFile } from '../../api/data.js'
import { useCall } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { bytes, full } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Empty, Loading, Problem, Shown } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import type { File } from './list.js'
import { save } from './save.js'

/** Larger files are downloaded, and not shown. */
const shownMax = 4 << 20
/** Of a longer text the beginning is shown. */
const textMax = 256 << 10

/** The types that browsers draw as an image. An image in an element runs no script, also if it is SVG. */
const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml', 'image/bmp', 'image/x-icon'])

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const typeOf = (file: File): string => (file.content_type ?? '').split(';')[0]!.trim().toLowerCase()

/** One file: what it is, and its content if people can read it. */
export function FileView({ path, round }: { path: string; round: number }) {
  const found = useCall((signal) => api.get('/v1/files/{path}/metadata', { signal, params: { path } }), [path, scope.value, round])
  return (
    <div class="file">
      <Shown of={found}>{(file) => (
        <>
          <Content file={file} />
          <Card title="File">
            <Facts of={[
              ['Path', <span class="mono">{file.path}</span>],
              ['Type', file.content_type ?? <span class="faint">application/octet-stream</span>],
              ['Size', <span title={`${full(file.bytes)} bytes`}>{bytes(file.bytes)}</span>],
              ['Revision', <span class="mono">{file.revision}</span>],
              ['Updated', <Ago at={file.updated_at} />],
              ...(file.expires_at ? [['Expires', <Ago at={file.expires_at} />] as const] : []),
            ]} />
            {Object.keys(file.metadata).length > 0 && <><h3>Metadata</h3><Json value={file.metadata} label="Metadata" /></>}
          </Card>
        </>
      )}</Shown>
    </div>
  )
}

function Content({ file }: { file: File }) {
  const show = file.bytes <= shownMax
  const found = useCall((signal) => (show ? readFile(file.path, signal) : Promise.resolve(undefined)), [file.path, file.revision, file.incarnation, scope.value])
  const [error, setError] = useState<unknown>()
  const download = (): void => {
    readFile(file.path).then((content) => save(nameOf(file.path), typeOf(file) || 'application/octet-stream', content), setError)
  }
  return (
    <Card title={nameOf(file.path)} side={<><Badge text={typeOf(file) || 'bytes'} /><button type="button" onClick={download}>Download</button></>}>
      {error !== undefined && <Problem error={error} />}
      {!show && <Empty title={`The file has ${bytes(file.bytes)}`}>Download it to see it.</Empty>}
      {show && !found.data && (found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />)}
      {found.data && (images.has(typeOf(file)) ? <Image of={file} content={found.data} /> : <Text of={file} content={found.data} />)}
    </Card>
  )
}

function Image({ of, content }: { of: File; content: Uint8Array }) {
  const [url, setUrl] = useState('')
  const [broken, setBroken] = useState(false)
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content as BlobPart], { type: typeOf(of) }))
    setUrl(made)
    setBroken(false)
    return () => URL.revokeObjectURL(made)
  }, [content])
  if (broken) return <Empty title={`The bytes are no ${typeOf(of)}`}>Download the file to look at them.</Empty>
  return url ? <img class="shown-image" src={url} alt={`The image ${nameOf(of.path)}`} onError={() => setBroken(true)} /> : null
}

function Text({ of, content }: { of: File; content: Uint8Array }) {
  const text = decode(content)
  if (text === undefined) return <Empty title="The file is no text">Download it to look at its {bytes(content.length)}.</Empty>
  if (content.length === 0) return <p class="calm">The file is empty.</p>
  const json = typeOf(of).endsWith('json') ? parse(text) : undefined
  if (json !== undefined) return <Json value={json} label="Content" />
  return (
    <>
      <pre class="shown-text mono" tabIndex={0} role="group" aria-label="Content">{text.slice(0, textMax)}</pre>
      {text.length > textMax && <p class="note">The first {bytes(textMax)} of {bytes(content.length)}.</p>}
    </>
  )
}

/** Returns the text that bytes hold; undefined if they hold none. */
function decode(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
