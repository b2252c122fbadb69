/** The quartiles of what was measured, in ms. */
export interface Figures {
  median: number
  lower: number
  upper: number
  all: number[]
}

/** Returns a quantile of sorted figures, between two of them if need be. */
function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at))
}

export function figures(all: readonly number[]): Figures {
  const sorted = [...all].sort((a, b) => a - b)
  return { median: quantile(sorted, 0.5), lower: quantile(sorted, 0.25), upper: quantile(sorted, 0.75), all: [...all] }
}
