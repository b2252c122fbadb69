import { api, type Schemas } from '../../api/client.js'

export type File = Schemas['File']

/** What a folder holds. */
export interface Node {
  /** Of a folder it ends with a slash. */
  path: string
  name: string
  /** undefined for a folder. */
  file: File | undefined
}

const pageFiles = 200
/** Beyond each path in a folder. */
const beyond = '\u{10FFFF}'
/** Folders with longer paths are read file by file: a page cannot begin beyond them. */
const pathMax = 120

/** What a folder holds, as far as it was read. */
export interface Listing {
  nodes: readonly Node[]
  /** Where to go on; undefined at the end. */
  next: string | undefined
}

/**
 * Reads about a page of what a folder holds after a path. The API lists files and not folders, so this
 * skips the rest of a folder as soon as it has seen one of its files.
 */
export async function listFolder(folder: string, after: string | undefined, signal: AbortSignal): Promise<Listing> {
  const nodes: Node[] = []
  const base = folder.slice(0, folder.lastIndexOf('/') + 1) // of a search, the folder may be the beginning of a name
  let at = after
  for (let calls = 0; calls < pageFiles && nodes.length < pageFiles; calls++) {
    const page = await api.get('/v1/files', { signal, query: { prefix: folder, limit: pageFiles, ...(at ? { after: at } : {}) } })
    for (const file of page.items) {
      const rest = file.path.slice(base.length)
      const slash = rest.indexOf('/')
      const name = slash < 0 ? rest : rest.slice(0, slash)
      const path = slash < 0 ? file.path : `${base}${name}/`
      if (nodes[nodes.length - 1]?.path !== path) nodes.push({ path, name, file: slash < 0 ? file : undefined })
    }
    if (!page.next) return { nodes, next: undefined }
    const last = nodes[nodes.length - 1]
    at = last && !last.file && last.path.length < pathMax ? last.path + beyond : page.next
  }
  return { nodes, next: at }
}
