import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Browsers limit the height of an element. Longer lists scroll in proportion. */
const heightMax = 6_000_000
const spare = 8

export interface VirtualProps {
  count: number
  rowHeight: number
  label: string
  row: (index: number, style: { transform: string; height: string }) => ComponentChildren
  /** Called with the rows that are drawn, whenever they change. */
  onRange?: (first: number, last: number) => void
  /** Scrolls to the row when it changes: [row, a number that makes it another request]. */
  goTo?: readonly [number, number] | undefined
  /** Keeps the end in view while rows are added there. */
  follow?: boolean | undefined
  /** The role of the rows' parent. */
  role?: 'list' | 'rowgroup' | 'listbox'
}

/** A list that draws only the rows in view: a million of them scroll like ten. */
export function Virtual({ count, rowHeight, label, row, onRange, goTo, follow, role = 'list' }: VirtualProps) {
  const box = useRef<HTMLDivElement>(null)
  const [height, setHeight] = useState(600)
  // first is the row at the top, with its hidden fraction: 0 <= first <= count - rows in view.
  const [first, setFirst] = useState(0)
  const own = useRef(-1) // the scroll position that this component has set itself
  const inView = height / rowHeight
  const last = Math.max(0, count - inView)
  const total = Math.min(count * rowHeight, heightMax)
  const range = Math.max(1, total - height)
  const scaled = count * rowHeight > heightMax

  const move = (to: number): void => {
    const next = Math.min(last, Math.max(0, to))
    setFirst(next)
    const el = box.current
    if (!el) return
    el.scrollTop = scaled ? (last ? (next / last) * range : 0) : next * rowHeight
    own.current = el.scrollTop
  }
  useLayoutEffect(() => {
    const el = box.current!
    const size = new ResizeObserver(() => setHeight(el.clientHeight || 600))
    size.observe(el)
    setHeight(el.clientHeight || 600)
    return () => size.disconnect()
  }, [])
  useEffect(() => {
    if (goTo) move(goTo[0] - Math.min(3, inView / 4))
  }, [goTo?.[0], goTo?.[1]])
  useEffect(() => {
    if (follow) move(last)
    else if (first > last) move(last)
  }, [count, height, follow])
  useEffect(() => {
    const el = box.current!
    if (!scaled) return undefined
    // In proportion, a turn of the wheel would skip rows.
    const wheel = (e: WheelEvent): void => {
      if (e.deltaY === 0 || e.ctrlKey) return
      e.preventDefault()
      move(first + e.deltaY / rowHeight)
    }
    el.addEventListener('wheel', wheel, { passive: false })
    return () => el.removeEventListener('wheel', wheel)
  })
  const scrolled = (): void => {
    const at = box.current!.scrollTop
    if (Math.abs(at - own.current) < 1) return
    own.current = -1
    setFirst(scaled ? Math.min(last, (at / range) * last) : at / rowHeight)
  }
  const from = Math.max(0, Math.floor(first) - spare)
  const to = Math.min(count - 1, Math.ceil(first + inView) + spare)
  useEffect(() => onRange?.(from, to), [from, to, count])

  const rows: ComponentChildren[] = []
  const top = scaled ? (last ? (first / last) * range : 0) : first * rowHeight
  for (let i = from; i <= to; i++) rows.push(row(i, { transform: `translateY(${Math.round(top + (i - first) * rowHeight)}px)`, height: `${rowHeight}px` }))
  return (
    <div ref={box} class="virtual" onScroll={scrolled} tabIndex={0} role={role} aria-label={label}>
      <div class="virtual-rows" role="presentation" style={{ height: `${Math.max(total, 1)}px` }}>{rows}</div>
    </div>
  )
}
