// Measures a graph of 50 steps on each system, in turns, and writes what it measured.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { figures } from './figures.js'
import { run, steps } from './graph.js'
import { plot } from './plot.js'
import { open, type System } from './systems.js'

const count = (name: string, absent: number, least: number): number => {
  const value = Number(process.env[name] ?? absent)
  if (!Number.isInteger(value) || value < least) throw new Error(`${name} is ${process.env[name]}: give a whole number of at least ${least}`)
  return value
}

const rounds = count('ROUNDS', 15, 7)
const warmups = count('WARMUPS', 3, 0)
const directory = process.env.OUT ?? 'results'

interface Measured {
  graph: number[]
  getTuple: number[]
  requests: number[]
}

/** Measures one run and one read of its last checkpoint, on a thread of its own. */
async function measure({ saver, requests }: System, into: Measured): Promise<void> {
  const thread = randomUUID()
  const before = requests?.() ?? 0
  into.graph.push(await run(saver, thread))
  const between = requests?.() ?? 0
  into.requests.push(between - before)
  const began = performance.now()
  const tuple = await saver.getTuple({ configurable: { thread_id: thread } })
  into.getTuple.push(performance.now() - began)
  if (tuple?.checkpoint.channel_values.n !== steps) throw new Error('the last checkpoint is not that of the last step')
  if (requests && requests() - between !== 1) throw new Error(`getTuple took ${requests() - between} requests: it must take one`)
}

const flag = (name: string): string => execFileSync('git', ['rev-parse', name], { encoding: 'utf8' }).trim()

function machine() {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memory_bytes: totalmem(), kernel: release(), node: process.version, flush: process.env.DORMOUSE_FLUSH }
}

const systems = await open()
const measured = new Map<string, Measured>(systems.map(({ name }) => [name, { graph: [], getTuple: [], requests: [] }]))
const began = new Date()
const loadBefore = loadavg()
try {
  for (let round = -warmups; round < rounds; round++) {
    // Each system is the first of a round as often as the others.
    const order = systems.map((_, at) => systems[(((at + round) % systems.length) + systems.length) % systems.length]!)
    for (const system of order) {
      await measure(system, round < 0 ? { graph: [], getTuple: [], requests: [] } : measured.get(system.name)!)
    }
  }
} finally {
  for (const system of systems) await system.close()
}

const of = (name: string): Measured => measured.get(name)!
const ratios = of('dormouse').graph.map((each, round) => each / of('postgres').graph[round]!)
const document = {
  began, ended: new Date(), commit: flag('HEAD'), machine: machine(), load_before: loadBefore, load_after: loadavg(),
  work: `a LangGraph graph of ${steps} steps, durability sync`, rounds, warmups,
  systems: systems.map(({ name, version }) => ({
    name, version, graph_ms: figures(of(name).graph), get_tuple_ms: figures(of(name).getTuple),
    ...(name === 'dormouse' ? { requests_of_a_graph: figures(of(name).requests).median } : {}),
  })),
  ratio_to_postgres: figures(ratios), bar: 1,
}
mkdirSync(directory, { recursive: true })
writeFileSync(join(directory, 'langgraph.json'), `${JSON.stringify(document, null, 2)}\n`)
const drawing = plot(`${steps} steps of a LangGraph graph, durability sync: less is better`, 'ms', document.systems.map(({ name, graph_ms }) => ({ name, figures: graph_ms })))
writeFileSync(join(directory, 'langgraph.svg'), drawing)

const column = (value: number | string): string => (typeof value === 'number' ? value.toFixed(2) : value).padStart(12)
console.log(['system', 'median ms', 'lower', 'upper', 'getTuple ms'].map(column).join(''))
for (const { name, graph_ms: graph, get_tuple_ms: tuple } of document.systems) console.log([name, graph.median, graph.lower, graph.upper, tuple.median].map(column).join(''))
const { median, lower, upper } = document.ratio_to_postgres
console.log(`dormouse / postgres: median ${median.toFixed(2)}, quartiles ${lower.toFixed(2)} to ${upper.toFixed(2)}; load ${loadBefore[0]!.toFixed(2)} before`)
if (median > 1) {
  console.error('the bar is missed: at most 1.00')
  process.exitCode = 1
}
