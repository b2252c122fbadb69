import { useState } from 'preact/hooks'
import { api } from '../../api/client.js'
import { Dialog, jsonOf } from '../../parts/dialog.js'
import { Problem } from '../../parts/states.js'
import type { Reader } from './cron.js'
import { Instants } from './timer.js'

const shownInstants = 5

/** A button that sets a timer. A cron expression is explained while it is typed. */
export function SetTimer(props: { managers: readonly string[]; manager: string; cron: Reader | undefined; done: (manager: string, key: string, timer: string) => void }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>Set a timer</button>
      {open && <Form {...props} close={() => setOpen(false)} />}
    </>
  )
}

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns an instant as a field for local times has it. */
function localTime(at: number): string {
  const d = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return d.toISOString().slice(0, 19)
}

function Form({ managers, manager, cron, done, close }: Parameters<typeof SetTimer>[0] & { close: () => void }) {
  const [v, setV] = useState({ manager, key: '', timer: '', when: 'cron', cron: '0 7 * * 1-5', zone: ownZone, at: localTime(Date.now() + 3_600_000), type: 'timer', data: '' })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const text = (name: keyof typeof v) => ({ value: v[name], onInput: (e: { currentTarget: { value: string } }) => setV({ ...v, [name]: e.currentTarget.value }), spellcheck: false, autocomplete: 'off' as const })
  const words = v.when === 'cron' ? cron?.inWords(v.cron) ?? '' : ''
  const instants = words && cron ? cron.next(v.cron, v.zone, Date.now(), shownInstants) : []
  const submit = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const data = jsonOf<Record<string, unknown>>('Data', v.data)
      await api.put('/v1/managers/{manager}/instances/{key}/timers/{timer}', {
        params: { manager: v.manager, key: v.key, timer: v.timer },
        body: { ...(v.when === 'cron' ? { cron: v.cron, ...(v.zone ? { time_zone: v.zone } : {}) } : { at: new Date(v.at).getTime() }), type: v.type, ...(data ? { data } : {}) },
      })
      close()
      done(v.manager, v.key, v.timer)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const complete = v.key && v.timer && v.type && (v.when === 'cron' ? v.cron : v.at)
  return (
    <Dialog title="Set a timer" close={close}>
      <form class="form" onSubmit={(e) => {
        e.preventDefault()
        if (complete && !busy) void submit()
      }}>
        <div class="pair">
          <label><span>Manager</span><select value={v.manager} onChange={(e) => setV({ ...v, manager: e.currentTarget.value })}>{managers.map((m) => <option key={m} value={m}>{m}</option>)}</select></label>
          <label><span>Instance</span><input {...text('key')} placeholder="room-1" /></label>
        </div>
        <div class="pair">
          <label><span>Timer</span><input {...text('timer')} placeholder="digest" /></label>
          <label><span>Fires</span><select value={v.when} onChange={(e) => setV({ ...v, when: e.currentTarget.value })}><option value="cron">by a cron expression</option><option value="at">once</option></select></label>
        </div>
        {v.when === 'cron'
          ? <>
            <div class="pair">
              <label><span>Cron expression</span><input class="mono" {...text('cron')} placeholder="0 7 * * 1-5" /></label>
              <label><span>Zone</span><input {...text('zone')} placeholder="Europe/Paris" /></label>
            </div>
            <div class="explain" role="status">{words ? <><p><strong>{words}</strong></p>{instants.length > 0 ? <Instants title="Next five" of={instants} zone={v.zone} /> : <p class="bad-text">It has no next instant in this zone.</p>}</> : <p class="faint">Five fields: minute, hour, day of the month, month, day of the week. Six begin with seconds. Or @daily, @hourly …</p>}</div>
          </>
          : <label><span>At</span><input type="datetime-local" step="1" value={v.at} onInput={(e) => setV({ ...v, at: e.currentTarget.value })} /><small>In your zone, {ownZone}</small></label>}
        <label><span>Type of the signal</span><input {...text('type')} /></label>
        <label><span>Data <span class="faint">(optional)</span></span><textarea class="mono" rows={3} {...text('data')} placeholder='{"entries":[{"payload":{"content":"a new day"}}]}' /></label>
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="solid" disabled={!complete || busy}>{busy ? 'Working…' : 'Set'}</button>
        </div>
      </form>
    </Dialog>
  )
}
