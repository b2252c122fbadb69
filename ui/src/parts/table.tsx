import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Loading, Problem } from './states.js'
import { Virtual } from './virtual.js'

/** A column of a table. */
export interface Column<Row> {
  head: string
  /** A track of a CSS grid, such as 120px or minmax(0, 2fr). */
  width: string
  cell: (row: Row) => ComponentChildren
  /** Numbers are aligned at the right. */
  number?: boolean
  /** The column is left out on narrow screens. */
  wide?: boolean
}

const rowHeight = 36

/** The CSS grid of the columns, without those that narrow screens leave out. */
function tracks<Row>(columns: readonly Column<Row>[], narrow: boolean): string {
  return columns.filter((c) => !narrow || !c.wide).map((c) => c.width).join(' ')
}

const narrowQuery = matchMedia('(max-width: 760px)')

/** Reports whether the screen is narrow. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(narrowQuery.matches)
  useEffect(() => {
    const changed = (): void => setNarrow(narrowQuery.matches)
    narrowQuery.addEventListener('change', changed)
    return () => narrowQuery.removeEventListener('change', changed)
  }, [])
  return narrow
}

interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

function cells<Row>(columns: readonly Column<Row>[], row: Row, narrow: boolean) {
  return columns.filter((c) => !narrow || !c.wide).map((c) => (
    <div key={c.head} role="cell" class={c.number ? 'cell number' : 'cell'}>{c.cell(row)}</div>
  ))
}

function Head<Row>({ columns, narrow }: { columns: readonly Column<Row>[]; narrow: boolean }) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" class="row" style={{ gridTemplateColumns: tracks(columns, narrow) }}>
        {columns.filter((c) => !narrow || !c.wide).map((c) => <div key={c.head} role="columnheader" class={c.number ? 'cell number' : 'cell'}>{c.head}</div>)}
      </div>
    </div>
  )
}

/** A short table, drawn whole. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  const narrow = useNarrow()
  const style = { gridTemplateColumns: tracks(columns, narrow) }
  return (
    <div class="table" role="table" aria-label={label}>
      <Head columns={columns} narrow={narrow} />
      <div role="rowgroup">
        {rows.map((row) => <div key={keyOf(row)} role="row" class="row" style={style}>{cells(columns, row, narrow)}</div>)}
      </div>
    </div>
  )
}

/** A page of a list of the API. */
export interface Page<Row> {
  items: readonly Row[]
  next: string | null
}

/** Rows that are loaded page by page. */
export interface Pages<Row> {
  rows: readonly Row[]
  /** There are further pages. */
  more: boolean
  loading: boolean
  error: unknown
  loadMore: () => void
  reload: () => void
}

/** Loads the first page when one of inputs changes, and each further one on demand. */
export function usePages<Row>(load: (after: string | undefined, signal: AbortSignal) => Promise<Page<Row>>, inputs: readonly unknown[]): Pages<Row> {
  const [state, setState] = useState<{ rows: readonly Row[]; next: string | null | undefined; error: unknown }>({ rows: [], next: undefined, error: undefined })
  const [round, setRound] = useState(0)
  const [busy, setBusy] = useState(true)
  const ended = useRef(new AbortController())
  const latest = useRef(load)
  latest.current = load
  const fetchPage = useCallback(async (after: string | undefined, before: readonly Row[]): Promise<void> => {
    const { signal } = ended.current
    setBusy(true)
    try {
      const page = await latest.current(after, signal)
      if (!signal.aborted) setState({ rows: before.concat(page.items), next: page.next, error: undefined })
    } catch (error) {
      if (!signal.aborted) setState((s) => ({ ...s, error }))
    }
    if (!signal.aborted) setBusy(false)
  }, [])
  useEffect(() => {
    ended.current = new AbortController()
    setState({ rows: [], next: undefined, error: undefined })
    void fetchPage(undefined, [])
    return () => ended.current.abort()
  }, [JSON.stringify(inputs), round])
  const more = typeof state.next === 'string' && state.next !== ''
  return {
    rows: state.rows, more, loading: busy, error: state.error,
    loadMore: () => {
      if (more && !busy && !state.error) void fetchPage(state.next!, state.rows)
    },
    reload: () => setRound((r) => r + 1),
  }
}

/** A table of any length: it draws the rows in view, and loads pages as they come into view. */
export function PagedTable<Row>({ label, columns, pages, keyOf, empty }: Omit<TableProps<Row>, 'rows'> & { pages: Pages<Row>; empty: ComponentChildren }) {
  const narrow = useNarrow()
  const { rows } = pages
  if (rows.length === 0) {
    if (pages.error) return <Problem error={pages.error} retry={pages.reload} />
    return pages.loading ? <Loading /> : <>{empty}</>
  }
  const template = tracks(columns, narrow)
  const range = (_first: number, last: number): void => {
    if (last > rows.length - 100) pages.loadMore()
  }
  return (
    <div class="table paged">
      {pages.error ? <Problem error={pages.error} retry={pages.reload} /> : null}
      <div class="paged-rows" role="table" aria-label={label} aria-rowcount={pages.more ? -1 : rows.length + 1}>
        <Head columns={columns} narrow={narrow} />
        <Virtual count={rows.length} rowHeight={rowHeight} label={label} role="rowgroup" onRange={range} row={(i, style) => {
          const row = rows[i]!
          return <div key={keyOf(row)} role="row" aria-rowindex={i + 2} class="row drawn" style={{ ...style, gridTemplateColumns: template }}>{cells(columns, row, narrow)}</div>
        }} />
      </div>
      <div class="table-foot" role="status">{pages.loading ? 'Loading…' : `${rows.length.toLocaleString('en')} shown${pages.more ? ', more below' : ''}`}</div>
    </div>
  )
}
