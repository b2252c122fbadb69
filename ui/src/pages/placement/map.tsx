import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.js'
import { dark } from '../../app/theme.js'
import { full } from '../../parts/format.js'

const columns = 64
/** The largest side of a square, in pixels of the page. */
const cellMax = 11
const colors = 8

/** Returns the colour of the i-th node. */
export const colorOf = (i: number): string => `var(--node-${i % colors})`

/** The partitions as a square, coloured by owner. One that moves has a mark in the colour of its next owner. */
export function PartitionMap({ map }: { map: Schemas['PlacementMap'] }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [at, setAt] = useState<number | undefined>()
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const box = canvas.current!.parentElement!
    const size = new ResizeObserver(() => setWidth(box.clientWidth))
    size.observe(box)
    return () => size.disconnect()
  }, [])
  const rows = Math.ceil(map.owners.length / columns)
  useEffect(() => {
    const el = canvas.current
    const ctx = el?.getContext('2d')
    if (!el || !ctx || width === 0) return
    // Squares are whole pixels of the screen: a scaled picture would have stripes.
    const cell = Math.max(2, Math.floor((Math.min(width, columns * cellMax) * devicePixelRatio) / columns))
    el.width = columns * cell
    el.height = rows * cell
    el.style.width = `${el.width / devicePixelRatio}px`
    const line = cell > 4 ? 1 : 0
    const style = getComputedStyle(document.documentElement)
    const palette = Array.from({ length: colors }, (_, i) => style.getPropertyValue(`--node-${i}`).trim())
    const empty = style.getPropertyValue('--bad-dot').trim()
    const gap = style.getPropertyValue('--panel').trim()
    ctx.fillStyle = gap
    ctx.fillRect(0, 0, el.width, el.height)
    map.owners.forEach((owner, i) => {
      ctx.fillStyle = owner < 0 ? empty : palette[owner % colors]!
      ctx.fillRect((i % columns) * cell, Math.floor(i / columns) * cell, cell - line, cell - line)
    })
    for (const move of map.moving) {
      const x = (move.partition % columns) * cell
      const y = Math.floor(move.partition / columns) * cell
      ctx.fillStyle = gap
      const edge = Math.max(1, Math.floor(cell / 5))
      ctx.fillRect(x + edge, y + edge, cell - line - 2 * edge, cell - line - 2 * edge)
      const to = map.nodes.indexOf(move.to ?? '')
      ctx.fillStyle = to < 0 ? empty : palette[to % colors]!
      ctx.fillRect(x + 2 * edge, y + 2 * edge, cell - line - 4 * edge, cell - line - 4 * edge)
    }
  }, [map, dark.value, width])
  const point = (e: PointerEvent): void => {
    const box = canvas.current!.getBoundingClientRect()
    const x = Math.floor(((e.clientX - box.left) / box.width) * columns)
    const y = Math.floor(((e.clientY - box.top) / box.height) * rows)
    const i = y * columns + x
    setAt(x >= 0 && x < columns && i >= 0 && i < map.owners.length ? i : undefined)
  }
  const owner = at === undefined ? undefined : map.nodes[map.owners[at]!]
  const move = at === undefined ? undefined : map.moving.find((m) => m.partition === at)
  const shares = map.nodes.map((n, i) => `${n} ${full(map.owners.filter((o) => o === i).length)}`).join(', ')
  return (
    <div class="map">
      <canvas ref={canvas} role="img" aria-label={`${full(map.owners.length)} partitions by owner: ${shares}`} onPointerMove={point} onPointerLeave={() => setAt(undefined)} />
      <p class="map-at">{at === undefined
        ? <span class="faint">Point at a square to see its partition.</span>
        : <>Partition <span class="mono">{at}</span>: {owner ?? 'no owner'}{move && `, moving to ${move.to ?? 'anyone'}: ${move.why}`}</>}
      </p>
    </div>
  )
}
