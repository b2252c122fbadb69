import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { useChanges } from '../api/data.js'
import { href, scope } from '../app/address.js'
import { PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty } from '../parts/states.js'
import { Folder, stepThrough } from './files/tree.js'
import { FileView } from './files/view.js'

/** The files of the scope as a tree, and one of them. */
export default function Files() {
  const { query, route } = useLocation()
  const path = query['path'] ?? ''
  const under = query['under'] || '/'
  const [round, setRound] = useState(0)
  const [empty, setEmpty] = useState(false)
  useChanges('values/file:', () => setRound((n) => n + 1))
  const show = (change: { path?: string; under?: string }): void => route(href('files', { path, under: under === '/' ? '' : under, ...change }), true)
  return (
    <PageFrame fill title="Files" about="Files that agents keep: reports, pictures, notes. Each is written whole, under a path."
      actions={<Search label="Files under" placeholder="/folder" value={under === '/' ? '' : under} onValue={(v) => show({ under: v && !v.startsWith('/') ? `/${v}` : v })} />}>
      {empty && !path
        ? under === '/'
          ? <Empty title="This scope has no files yet" command="dormctl files put /notes/hello.txt 'hello' --content-type text/plain">A file appears here when it is written:</Empty>
          : <Empty title={`No file's path begins with ${under}`} />
        : null}
      <div class="inbox" style={{ display: empty && !path ? 'none' : '' }}>
        <section class="card flush timeline" aria-label="Tree" onKeyDown={stepThrough}>
          <div class="tree" key={`${scope.value} ${under}`}><Folder path={under} current={path} round={round} onOpen={(p) => show({ path: p })} onListing={(l) => setEmpty(l.nodes.length === 0)} /></div>
        </section>
        <div class="aside">{path ? <FileView path={path} round={round} /> : <p class="calm">Choose a file to see it. The arrow keys move through the tree.</p>}</div>
      </div>
    </PageFrame>
  )
}
