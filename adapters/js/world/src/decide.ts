import { EntityConflictError, HookNotFoundError, RunExpiredError, RunNotSupportedError, TooEarlyError, WorkflowRunNotFoundError, WorkflowWorldError } from '@workflow/errors'
import {
  applyAttributeChanges, isChildEntityCreationEvent, isLegacySpecVersion, isTerminalRunEventType, isTerminalStepStatus, isTerminalWorkflowRunStatus, requiresNewerWorld,
  SPEC_VERSION_CURRENT, validateAttributeChanges, type AttributeChange, type CreateEventRequest, type EventResult, type Step, type Wait, type WorkflowRun,
} from '@workflow/world'
import type { Changes, EventRequest, State } from './state.js'

type Data<Type extends EventRequest['eventType']> = Extract<EventRequest, { eventType: Type }>
interface Started { deploymentId?: string; workflowName?: string; input?: unknown; executionContext?: Record<string, unknown>; attributes?: Record<string, string>; allowReservedAttributes?: boolean }

/** What an event does. Without changes there is nothing to store. */
export type Decided = Omit<EventResult, 'events' | 'cursor' | 'hasMore'>

/** Decides one event. */
export class Decision {
  private readonly run: string
  private readonly data: EventRequest
  private readonly state: State
  private readonly changes: Changes
  private readonly now: Date
  private readonly specVersion: number

  constructor(run: string, data: EventRequest, state: State, changes: Changes) {
    this.run = run
    this.data = data
    this.state = state
    this.changes = changes
    this.now = changes.now
    this.specVersion = data.specVersion ?? SPEC_VERSION_CURRENT
  }

  /** Adds the changes of the event, or throws the error that the runtime expects. */
  decide(): Decided {
    const { data, state } = this
    if (data.eventType === 'run_created') return this.created(data.eventData)
    if (data.eventType === 'run_started' && !state.run) this.createLate(data.eventData)
    const ended = this.checkRun()
    if (ended) return ended
    switch (data.eventType) {
      case 'run_started': return this.started()
      case 'run_completed': return this.ended({ status: 'completed', output: data.eventData.output })
      case 'run_failed': return this.ended({ status: 'failed', error: data.eventData.error, errorCode: data.eventData.errorCode })
      case 'run_cancelled': return this.ended({ status: 'cancelled' })
      case 'attr_set': return this.attributes(data)
      case 'step_created': return this.stepCreated(data)
      case 'step_started': return this.stepStarted(data)
      case 'step_completed': return this.stepChanged({ status: 'completed', output: data.eventData.result, completedAt: this.now })
      case 'step_failed': return this.stepChanged({ status: 'failed', error: data.eventData.error, completedAt: this.now })
      case 'step_retrying': return this.stepChanged({ status: 'pending', error: data.eventData.error, retryAfter: data.eventData.retryAfter })
      case 'hook_created': return this.hookCreated(data)
      case 'hook_received': return this.hookReceived(data)
      case 'hook_disposed': return this.hookDisposed(data)
      case 'wait_created': return this.waitCreated(data)
      case 'wait_completed': return this.waitCompleted(data)
      default: throw new WorkflowWorldError(`this world does not know events of the type ${(data as { eventType: string }).eventType}`)
    }
  }

  /** Returns a result if the event is a repetition that changes nothing in a run that has ended. */
  private checkRun(): Decided | undefined {
    const { data, state: { run } } = this
    if (!run) {
      // The runtime reports the end of a step without looking for its run.
      if (['run_failed', 'run_completed', 'run_cancelled', 'attr_set'].includes(data.eventType)) throw new WorkflowRunNotFoundError(this.run)
      return undefined
    }
    if (requiresNewerWorld(run.specVersion) || isLegacySpecVersion(run.specVersion)) throw new RunNotSupportedError(run.specVersion ?? 1, SPEC_VERSION_CURRENT)
    if (!isTerminalWorkflowRunStatus(run.status)) return undefined
    const state = `the run ${this.run} is ${run.status}`
    if (data.eventType === 'run_cancelled' && run.status === 'cancelled') return { event: this.event(), run }
    if (data.eventType === 'run_started') throw new RunExpiredError(`${state}: it cannot start`)
    if (isTerminalRunEventType(data.eventType)) throw new EntityConflictError(`${state}: it cannot end again`)
    if (isChildEntityCreationEvent(data as CreateEventRequest)) throw new EntityConflictError(`${state}: it takes no new steps, hooks or waits`)
    if (data.eventType === 'attr_set') throw new EntityConflictError(`${state}: its attributes cannot change`)
    return undefined
  }

  /** Adds the event itself, its data changed if given. */
  private event(eventData: unknown = 'eventData' in this.data ? this.data.eventData : undefined) {
    const { eventData: _given, ...rest } = this.data as EventRequest & { eventData?: unknown }
    return this.changes.add({ ...rest, specVersion: this.specVersion, ...(eventData === undefined ? {} : { eventData }) } as Parameters<Changes['add']>[0])
  }

  private newRun(data: Started): WorkflowRun {
    const changes: AttributeChange[] = Object.entries(data.attributes ?? {}).map(([key, value]) => ({ key, value }))
    validateAttributeChanges(changes, { allowReservedAttributes: data.allowReservedAttributes === true })
    return {
      runId: this.run, deploymentId: data.deploymentId, status: 'pending', workflowName: data.workflowName, specVersion: this.specVersion,
      executionContext: data.executionContext, input: data.input, attributes: data.attributes ?? {}, createdAt: this.now, updatedAt: this.now,
    } as WorkflowRun
  }

  private created(data: Data<'run_created'>['eventData']): Decided {
    if (this.state.run) throw new EntityConflictError(`the run ${this.run} exists already`)
    const run = this.changes.setRun(this.newRun(data as Started))
    return { event: this.event(), run }
  }

  /** Creates a run whose first message came before the event that creates it. */
  private createLate(data: unknown): void {
    const start = (data ?? {}) as Started
    if (!start.deploymentId || !start.workflowName || start.input === undefined) return
    this.state.run = this.newRun(start)
    const { deploymentId, workflowName, input, executionContext, attributes, allowReservedAttributes } = start
    this.changes.add({ eventType: 'run_created', specVersion: this.specVersion, eventData: { deploymentId, workflowName, input, executionContext, attributes, allowReservedAttributes } })
  }

  private started(): Decided {
    const { run } = this.state
    if (!run) return { event: this.event(null) }
    if (run.status === 'running') return { run }
    const event = this.event(null)
    return { event, run: this.changes.setRun({ ...run, status: 'running', startedAt: run.startedAt ?? this.now, updatedAt: this.now } as WorkflowRun) }
  }

  private ended(change: object): Decided {
    const { output: _output, error: _error, ...run } = this.state.run!
    this.changes.end(this.state.ends, this.state.held)
    return { event: this.event(), run: this.changes.setRun({ ...run, completedAt: this.now, updatedAt: this.now, ...change } as WorkflowRun) }
  }

  private attributes(data: Data<'attr_set'>): Decided {
    const run = this.state.run!
    const { changes, allowReservedAttributes, writer } = data.eventData
    validateAttributeChanges(changes, { existingKeys: Object.keys(run.attributes), allowReservedAttributes: allowReservedAttributes === true })
    if (data.correlationId && writer.type === 'workflow') {
      if (this.state.repeated) throw new EntityConflictError(`the attribute event ${data.correlationId} exists already`)
      this.changes.correlate(data.correlationId)
    }
    return { event: this.event(), run: this.changes.setRun({ ...run, attributes: applyAttributeChanges(run.attributes, changes), updatedAt: this.now } as WorkflowRun) }
  }

  private newStep(id: string, data: { stepName?: string; input?: unknown }): Step {
    this.changes.correlate(id)
    return {
      runId: this.run, stepId: id, stepName: data.stepName, status: 'pending', input: data.input, attempt: 0, createdAt: this.now, updatedAt: this.now, specVersion: this.specVersion,
    } as Step
  }

  private stepCreated(data: Data<'step_created'>): Decided {
    if (this.state.step) throw new EntityConflictError(`the step ${data.correlationId} exists already`)
    return { event: this.event(), step: this.changes.setStep(this.newStep(data.correlationId, data.eventData)) }
  }

  /** Returns the step of the event, if it may change. */
  private openStep(): Step | undefined {
    const { step, run } = this.state
    if (!step) return undefined
    if (isTerminalStepStatus(step.status)) throw new EntityConflictError(`the step ${step.stepId} is ${step.status}: it cannot change`)
    const late = ['step_started', 'step_failed'].includes(this.data.eventType) && step.status !== 'running'
    if (late && run && isTerminalWorkflowRunStatus(run.status)) throw new RunExpiredError(`the run ${this.run} is ${run.status}: its step ${step.stepId} cannot start`)
    return step
  }

  private stepStarted(data: Data<'step_started'>): Decided {
    const lazy = isChildEntityCreationEvent(data)
    let step = this.openStep()
    if (lazy && step) throw new EntityConflictError(`the step ${data.correlationId} exists already`)
    if (!step && !lazy) throw new WorkflowWorldError(`the step ${data.correlationId} does not exist`)
    const { input, ...rest } = data.eventData ?? {}
    if (!step) {
      step = this.newStep(data.correlationId, { ...rest, input })
      this.changes.add({ eventType: 'step_created', correlationId: data.correlationId, specVersion: this.specVersion, eventData: { stepName: rest.stepName, input } })
    }
    const early = (step.retryAfter?.getTime() ?? 0) - Date.now()
    if (early > 0) throw new TooEarlyError(`the step ${data.correlationId} is tried again in ${early} ms`, { retryAfter: Math.ceil(early / 1000) })
    const { retryAfter: _retryAfter, ...before } = step
    const event = data.eventData === undefined ? this.event() : this.event(lazy ? rest : data.eventData)
    const started = { ...before, status: 'running', startedAt: step.startedAt ?? this.now, attempt: step.attempt + 1, updatedAt: this.now } as Step
    return { event, step: this.changes.setStep(started), ...(lazy ? { stepCreated: true } : {}) }
  }

  private stepChanged(change: object): Decided {
    const step = this.openStep()
    if (!step) throw new WorkflowWorldError(`the step ${(this.data as { correlationId?: string }).correlationId} does not exist`)
    return { event: this.event(), step: this.changes.setStep({ ...step, ...change, updatedAt: this.now } as Step) }
  }

  private hookCreated(data: Data<'hook_created'>): Decided {
    const { token, metadata, isWebhook = false, isSystem = false } = data.eventData
    if (this.state.hook) throw new EntityConflictError(`the hook ${data.correlationId} exists already`)
    if (this.state.token) {
      const conflict = { token, conflictingRunId: this.state.token.run }
      return { event: this.changes.add({ eventType: 'hook_conflict', correlationId: data.correlationId, specVersion: this.specVersion, eventData: conflict }) }
    }
    this.changes.correlate(data.correlationId)
    const event = this.event()
    const hook = this.changes.setHook({
      runId: this.run, hookId: data.correlationId, token, metadata, ownerId: 'dormouse', projectId: 'dormouse', environment: 'dormouse',
      createdAt: event.createdAt, specVersion: this.specVersion, isWebhook, isSystem,
    })
    return { event, hook }
  }

  private hookReceived(data: Data<'hook_received'>): Decided {
    if (!this.state.hook) throw new HookNotFoundError(data.correlationId)
    return { event: this.event() }
  }

  private hookDisposed(data: Data<'hook_disposed'>): Decided {
    if (!this.state.hook) throw new HookNotFoundError(data.correlationId)
    this.changes.removeHook(this.state.hook, this.state.held)
    return { event: this.event() }
  }

  private waitCreated(data: Data<'wait_created'>): Decided {
    if (this.state.wait) throw new EntityConflictError(`the wait ${data.correlationId} exists already`)
    this.changes.correlate(data.correlationId)
    const wait: Wait = {
      waitId: `${this.run}-${data.correlationId}`, runId: this.run, status: 'waiting', resumeAt: data.eventData.resumeAt, createdAt: this.now, updatedAt: this.now, specVersion: this.specVersion,
    }
    return { event: this.event(), wait: this.changes.setWait(data.correlationId, wait) }
  }

  private waitCompleted(data: Data<'wait_completed'>): Decided {
    const { wait } = this.state
    if (!wait) throw new WorkflowWorldError(`the wait ${data.correlationId} does not exist`)
    if (wait.status === 'completed') throw new EntityConflictError(`the wait ${data.correlationId} is completed already`)
    return { event: this.event(), wait: this.changes.setWait(data.correlationId, { ...wait, status: 'completed', completedAt: this.now, updatedAt: this.now }) }
  }
}
