import { useEffect, useState } from 'preact/hooks'
import { scope } from '../../app/address.js'
import { Loading, Problem } from '../../parts/states.js'
import { bytes } from '../../parts/format.js'
import { listFolder, type Listing, type Node } from './list.js'

interface FolderProps {
  path: string
  /** The path that the page shows: the folders above it are open. */
  current: string
  /** Grows when a file has changed. */
  round: number
  onOpen: (path: string) => void
  onListing?: (listing: Listing) => void
}

/** The content of a folder; the folders in it open on demand. */
export function Folder({ path, current, round, onOpen, onListing }: FolderProps) {
  const [listing, setListing] = useState<Listing | undefined>()
  const [error, setError] = useState<unknown>()
  const [again, setAgain] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    listFolder(path, undefined, ended.signal).then((found) => {
      setError(undefined)
      setListing(found)
      onListing?.(found)
    }, (failure: unknown) => !ended.signal.aborted && setError(failure))
    return () => ended.abort()
  }, [path, scope.value, round, again])
  const more = async (): Promise<void> => {
    try {
      const found = await listFolder(path, listing!.next, new AbortController().signal)
      setListing({ nodes: [...listing!.nodes, ...found.nodes], next: found.next })
    } catch (failure) {
      setError(failure)
    }
  }
  if (!listing) return error === undefined ? <Loading rows={3} /> : <Problem error={error} retry={() => setAgain((n) => n + 1)} />
  return (
    <ul class="folder">
      {listing.nodes.map((node) => <li key={node.path}><Entry node={node} current={current} round={round} onOpen={onOpen} /></li>)}
      {error !== undefined && <li><Problem error={error} /></li>}
      {listing.next && <li><button type="button" class="quiet" onClick={() => void more()}>Show more</button></li>}
    </ul>
  )
}

function Entry({ node, current, round, onOpen }: { node: Node; current: string; round: number; onOpen: (path: string) => void }) {
  const leads = !node.file && current.startsWith(node.path)
  const [open, setOpen] = useState(leads)
  useEffect(() => {
    if (leads) setOpen(true)
  }, [leads])
  if (node.file) {
    return (
      <button type="button" class="leaf" data-step="" aria-current={node.path === current ? 'true' : undefined} onClick={() => onOpen(node.path)}>
        <span class="clip">{node.name}</span><span class="faint">{bytes(node.file.bytes)}</span>
      </button>
    )
  }
  return (
    <>
      <button type="button" class="branch" data-step="" aria-expanded={open} onClick={() => setOpen(!open)}><span class="clip">{node.name}/</span></button>
      {open && <Folder path={node.path} current={current} round={round} onOpen={onOpen} />}
    </>
  )
}

/** Moves through the tree with the arrow keys: up and down, left to close a folder, right to open it. */
export function stepThrough(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const steps = [...e.currentTarget.querySelectorAll<HTMLButtonElement>('button[data-step]')]
  const i = steps.indexOf(document.activeElement as HTMLButtonElement)
  if (i < 0) return
  const open = steps[i]!.getAttribute('aria-expanded')
  if (e.key === 'ArrowDown') steps[i + 1]?.focus()
  else if (e.key === 'ArrowUp') steps[i - 1]?.focus()
  else if (e.key === 'ArrowRight' && open === 'false') steps[i]!.click()
  else if (e.key === 'ArrowLeft' && open === 'true') steps[i]!.click()
  else return
  e.preventDefault()
}
