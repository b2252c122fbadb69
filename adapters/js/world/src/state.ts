import { RefusedError, type Client, type Entry, type Op, type Read } from '@dormouse/client'
import { isTerminalRunEventType, isTerminalWorkflowRunStatus, type CreateEventRequest, type Event, type Hook, type RunCreatedEventRequest, type Step, type Wait, type WorkflowRun } from '@workflow/world'
import { eventKind, eventOf } from './entities.js'
import { nextEvent } from './ids.js'
import type { Keys } from './keys.js'
import { bodyOf, get, put, read, remove, scan, unchanged, value, type Stored } from './store.js'

/** A request to store an event. */
export type EventRequest = CreateEventRequest | RunCreatedEventRequest

/** Who has a token. */
interface Token {
  run: string
  hook: string
}

/** What an event is decided from: the run and the entity that the event is about, at one index. */
export interface State {
  run: WorkflowRun | undefined
  /** The step, the wait or the hook of the event's correlation id. */
  step: Step | undefined
  wait: Wait | undefined
  hook: Hook | undefined
  /** Who has the token of a hook that is created. */
  token: Token | undefined
  /** The token's value, also of a run that is over; undefined if there is none. */
  storedToken: Stored<Token> | undefined
  /** Whether the attribute event was made before. */
  repeated: boolean
  /** What ends with a run. */
  ends: Ends
  /** The tokens that the hook of the event, or the hooks that end, hold, by the hooks' ids. */
  held: Map<string, Stored<Token>>
  rev: number
  last: Event | undefined
}

/** Waits and hooks that end with their run. */
interface Ends {
  /** The keys of the waits. */
  waits: string[]
  hooks: Hook[]
  /** Whether the run has more of them. */
  more: boolean
}

type Page = { items: { key: string; body?: string }[]; next: string | null }

/** How many waits and how many hooks of a run end in one commit. */
const endsMax = 200

/** The most reads of one call. */
const readsMax = 100

/** Reads what an event is decided from. */
export async function stateFor(client: Client, keys: Keys, run: string, data: EventRequest): Promise<State> {
  const correlation = 'correlationId' in data ? data.correlationId ?? '' : ''
  const reads: Record<string, Read> = {
    thread: { read: 'get_thread', thread: keys.events(run) },
    tail: { read: 'load_entries', thread: keys.events(run), tail: 1 },
    run: { read: 'get_value', key: keys.run(run) },
  }
  const subject = data.eventType.split('_')[0]
  if (subject === 'step') reads.step = { read: 'get_value', key: keys.steps(run) + correlation }
  if (subject === 'wait') reads.wait = { read: 'get_value', key: keys.waits(run) + correlation }
  if (subject === 'hook') reads.hook = { read: 'get_value', key: keys.hooks(run) + correlation }
  if (data.eventType === 'hook_created') reads.token = { read: 'get_value', key: keys.token(data.eventData.token) }
  if (data.eventType === 'attr_set' && correlation) reads.repeated = { read: 'get_value', key: keys.correlated(correlation) + run }
  if (isTerminalRunEventType(data.eventType)) {
    reads.waits = { read: 'list_values', prefix: keys.waits(run), limit: endsMax }
    reads.hooks = { read: 'list_values', prefix: keys.hooks(run), body: true, limit: endsMax }
  }
  const names = Object.keys(reads)
  const answers = await read(client, Object.values(reads))
  const found = Object.fromEntries(names.map((name, at) => [name, answers[at]]))
  const token = value<Token>(found.token)
  const last = (found.tail as { items: Entry[] } | undefined)?.items[0]
  const hook = value<Hook>(found.hook)?.body
  const [waits, hooks] = [found.waits as Page | undefined, found.hooks as Page | undefined]
  const ends: Ends = {
    waits: (waits?.items ?? []).map(({ key }) => key), hooks: (hooks?.items ?? []).map(({ body }) => bodyOf<Hook>(body)),
    more: Boolean(waits?.next) || Boolean(hooks?.next),
  }
  return {
    run: value<WorkflowRun>(found.run)?.body,
    step: value<Step>(found.step)?.body,
    wait: value<Wait>(found.wait)?.body,
    hook,
    token: token && !(await isOver(client, keys, token.body.run)) ? token.body : undefined,
    storedToken: token,
    repeated: found.repeated !== undefined,
    ends,
    held: await heldBy(client, keys, run, data.eventType === 'hook_disposed' && hook ? [hook] : ends.hooks),
    rev: (found.thread as { rev: number } | undefined)?.rev ?? 0,
    last: last && eventOf(last),
  }
}

/** Reports whether a run has ended: what is left of it holds no token. */
async function isOver(client: Client, keys: Keys, run: string): Promise<boolean> {
  const found = await get<WorkflowRun>(client, keys.run(run))
  return found === undefined || isTerminalWorkflowRunStatus(found.status)
}

/** Returns the tokens that hooks of a run hold. Another run may have the token of a run that was over, or not created yet. */
async function heldBy(client: Client, keys: Keys, run: string, hooks: Hook[]): Promise<State['held']> {
  const held: State['held'] = new Map()
  for (let at = 0; at < hooks.length; at += readsMax) {
    const some = hooks.slice(at, at + readsMax)
    const tokens = await read(client, some.map((hook) => ({ read: 'get_value', key: keys.token(hook.token) })))
    some.forEach(({ hookId }, n) => {
      const token = value<Token>(tokens[n])
      if (token?.body.run === run && token.body.hook === hookId) held.set(hookId, token)
    })
  }
  return held
}

/** Returns the first bodies below a prefix, also where the first pages are short or empty. */
async function first<T>(client: Client, prefix: string): Promise<{ key: string; body: T }[]> {
  const found: { key: string; body: T }[] = []
  for await (const each of scan<T>(client, prefix)) if (found.push(each) === endsMax) break
  return found
}

/** Removes all waits and hooks of a run that is over. */
export async function endRest(client: Client, keys: Keys, run: string): Promise<void> {
  for (;;) {
    const waits = (await first<Wait>(client, keys.waits(run))).map(({ key }) => key)
    const hooks = (await first<Hook>(client, keys.hooks(run))).map(({ body }) => body)
    if (waits.length + hooks.length === 0) return
    const changes = new Changes(keys, run)
    changes.end({ waits, hooks }, await heldBy(client, keys, run, hooks))
    try {
      await client.commit(changes.ops)
    } catch (error) {
      // Another run took one of the tokens, or another process removes the same ones.
      if (!(error instanceof RefusedError) || !['revision_mismatch', 'deleted'].includes(error.code)) throw error
    }
  }
}

/** Collects the changes of one commit: events, and the entities that they change. */
export class Changes {
  readonly events: Event[] = []
  readonly ops: Op[] = []
  private readonly keys: Keys
  private readonly run: string
  private readonly rev: number
  private readonly storedToken: Stored<Token> | undefined
  private last: string | undefined
  /** The time of the first event. */
  readonly now: Date

  constructor(keys: Keys, run: string, state?: State) {
    this.keys = keys
    this.run = run
    this.rev = state?.rev ?? 0
    this.storedToken = state?.storedToken
    this.last = state?.last?.eventId
    this.now = nextEvent(this.last).at
  }

  /** Adds an event and returns it with its id and time. */
  add(event: { eventType: Event['eventType']; correlationId?: string; eventData?: unknown; specVersion: number }): Event {
    const { id, at } = nextEvent(this.last, this.now.getTime())
    this.last = id
    const made = { ...event, runId: this.run, eventId: id, createdAt: at } as Event
    this.events.push(made)
    return made
  }

  setRun(run: WorkflowRun): WorkflowRun {
    this.ops.push(put(this.keys.run(this.run), run))
    return run
  }

  setStep(step: Step): Step {
    this.ops.push(put(this.keys.steps(this.run) + step.stepId, step))
    return step
  }

  setWait(id: string, wait: Wait): Wait {
    this.ops.push(put(this.keys.waits(this.run) + id, wait))
    return wait
  }

  /** Stores a hook. The token must be as it was read. */
  setHook(hook: Hook): Hook {
    const owner = { run: this.run, hook: hook.hookId }
    this.ops.push(put(this.keys.hooks(this.run) + hook.hookId, hook), put(this.keys.hookOwner(hook.hookId), owner), put(this.keys.token(hook.token), owner, unchanged(this.storedToken)))
    return hook
  }

  /** Removes a hook, and its token if it holds one. */
  removeHook(hook: Hook, held: State['held']): void {
    this.ops.push(remove(this.keys.hooks(this.run) + hook.hookId), remove(this.keys.hookOwner(hook.hookId)))
    const token = held.get(hook.hookId)
    if (token) this.ops.push(remove(this.keys.token(hook.token), token))
  }

  /** Removes waits and hooks of a run that ends: their tokens are free again. */
  end({ waits, hooks }: Pick<Ends, 'waits' | 'hooks'>, held: State['held']): void {
    for (const key of waits) this.ops.push(remove(key))
    for (const hook of hooks) this.removeHook(hook, held)
  }

  /** Records that the run has a correlation id. */
  correlate(id: string): void {
    this.ops.push(put(this.keys.correlated(id) + this.run, { run: this.run }))
  }

  /** Returns the ops. They apply only if nothing has happened in the run since its state was read. */
  commit(): Op[] {
    const entries = this.events.map((event) => ({ id: event.eventId, ...put('', event) as { bytes: string; content_type: string } })).map(({ id, bytes, content_type }) => ({ id, kind: eventKind, bytes, content_type }))
    return [{ op: 'append_thread', thread: this.keys.events(this.run), expected_rev: this.rev, entries }, ...this.ops]
  }
}
