import type { Figures } from './figures.js'

const width = 640
const left = 110
const right = 80
const row = 44
const top = 56

/** Draws a row for each system: a box from the lower to the upper quartile, a line at the median, a dot a run. */
export function plot(title: string, unit: string, systems: readonly { name: string; figures: Figures }[]): string {
  const most = niceAbove(Math.max(...systems.flatMap(({ figures }) => [figures.upper, ...figures.all])))
  const x = (value: number): string => (left + (value / most) * (width - left - right)).toFixed(1)
  const height = top + systems.length * row + 40
  const out = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${left}" y="24" font-size="15">${title}</text>`,
  ]
  for (let at = 0; at <= 4; at++) {
    const value = (most / 4) * at
    out.push(`<line x1="${x(value)}" x2="${x(value)}" y1="${top - 12}" y2="${height - 34}" stroke="#ddd"/>`)
    out.push(`<text x="${x(value)}" y="${height - 16}" text-anchor="middle" fill="#555">${value}${at === 4 ? ` ${unit}` : ''}</text>`)
  }
  systems.forEach(({ name, figures: { lower, median, upper, all } }, at) => {
    const y = top + at * row
    out.push(`<text x="${left - 10}" y="${y + 14}" text-anchor="end">${name}</text>`)
    for (const each of all) out.push(`<circle cx="${x(each)}" cy="${y + 9}" r="2.5" fill="#999"/>`)
    out.push(`<rect x="${x(lower)}" y="${y}" width="${(Number(x(upper)) - Number(x(lower))).toFixed(1)}" height="18" fill="#4477aa" fill-opacity="0.45"/>`)
    out.push(`<line x1="${x(median)}" x2="${x(median)}" y1="${y - 3}" y2="${y + 21}" stroke="#223355" stroke-width="2"/>`)
    out.push(`<text x="${width - right + 12}" y="${y + 14}" fill="#223355">${median.toFixed(0)} ${unit}</text>`)
  })
  return [...out, '</svg>', ''].join('\n')
}

/** Returns the next of 1, 2, 4 or 8 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return (([1, 2, 4, 8, 10].find((each) => each * power >= value)) ?? 10) * power
}
