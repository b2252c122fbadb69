import { useEffect, useRef, useState } from 'preact/hooks'
import { api, codeOf, type Schemas } from '../../api/client.js'
import { useCall } from '../../api/use.js'
import { UnknownError } from '../../../../sdk/js/src/errors.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { bytes, full, plural } from '../../parts/format.js'
import { Card, Facts } from '../../parts/page.js'
import { Empty, Loading, Problem } from '../../parts/states.js'
import { Table, type Column } from '../../parts/table.js'
import { Ago, span } from '../../parts/time.js'

type Backup = Schemas['Backup']

const columns: Column<Backup>[] = [
  { head: 'Backup', width: 'minmax(0, 2fr)', cell: (b) => <span class="mono" title={`${b.name}\nSHA-256 over all rows: ${b.state_hash}`}>{b.name.replace(/^0+(?=\d)/, '')}</span> },
  { head: 'Verified', width: '92px', cell: (b) => (b.verified_at ? <Badge text="verified" tone="good" /> : <Badge text="not yet" tone="warn" />) },
  { head: 'Index', width: '68px', number: true, wide: true, cell: (b) => full(b.index) },
  { head: 'Stored', width: '72px', number: true, wide: true, cell: (b) => bytes(b.bytes) },
  { head: 'Took', width: '60px', number: true, wide: true, cell: (b) => span(b.verified_at - b.started_at) },
  { head: 'Node', width: '44px', wide: true, cell: (b) => b.node },
  { head: 'State of', width: '92px', number: true, cell: (b) => <Ago at={b.time} /> },
]

/** The scheduled backups: their status, what is stored, and a backup at once. */
export function Backups() {
  const [running, setRunning] = useState(false)
  const found = useCall((signal) => api.get('/v1/cluster/backups', { signal }), [], running ? 500 : 5_000)
  const take = useTake(() => found.data?.status.phase, setRunning, found.reload)
  if (!found.data) {
    if (codeOf(found.error) === 'conflict') return <Empty title="This cluster takes no backups by schedule" command="DORMOUSE_BACKUP__URL=file:///var/backups/dormouse">Set backup.url on all nodes, and restart them one by one. A backup on demand is made by dormctl backup.</Empty>
    return found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />
  }
  const { backups, status, damages, segments, stored_bytes, unfinished } = found.data
  return (
    <div class="scroll split" tabIndex={0} role="group" aria-label="Backups">
      <div>
        {take.error !== undefined && <Problem error={take.error} />}
        {take.done && <p class="banner good" role="status">Backup {take.done.name} is stored and verified: {bytes(take.done.state_bytes)} of state at index {full(take.done.index)}, SHA-256 {take.done.state_hash.slice(0, 16)}…</p>}
        <Card flush title="Backups" side={
          <Action label="Back up now" title="Take a backup now" disabled={running} run={take.run}>
            <p>The leader writes a copy of the whole store to {status.url}, reads it back, restores it, and compares the two.</p>
          </Action>
        }>
          {(running || status.phase) && <Progress phase={status.phase} />}
          {backups.length === 0 ? <Empty title="No whole backup is stored yet">The first one is taken when the cluster starts.</Empty> : <Table label="Backups" columns={columns} rows={[...backups].reverse()} keyOf={(b) => b.name} />}
        </Card>
        {damages.length > 0 && <Card title="Damaged"><ul class="items">{damages.map((d) => <li key={d} class="bad-text">{d}</li>)}</ul></Card>}
      </div>
      <div class="aside"><Card title="Status"><Facts of={[
        ['Destination', <span class="mono">{status.url}</span>],
        ['Taken by', `${status.node}, the leader`],
        ['Last', status.last_success_at ? <><span class="mono">{status.last_name}</span> <Ago at={status.last_success_at} /></> : 'none'],
        ['Next', <Ago at={status.next} none="on demand only" />],
        ['Log', status.ships_log ? <>shipped to index {full(status.shipped_to ?? 0)} <Ago at={status.shipped_time} /></> : 'not shipped'],
        ['Gaps', status.gaps ? <span class="bad-text">{full(status.gaps)}: some instants cannot be restored</span> : 'none'],
        ['Stored', `${bytes(stored_bytes)} in ${plural(backups.length, 'backup')} and ${plural(segments, 'segment')}${unfinished ? `, ${full(unfinished)} unfinished` : ''}`],
        ['Encryption', status.encrypted ? 'age' : 'none: set backup.recipients'],
        ['Public key', <span class="mono">{status.public_key}</span>],
        ...(status.last_error ? [['Last error', <span class={(status.last_error_at ?? 0) > (status.last_success_at ?? 0) ? 'bad-text' : 'faint'}>{status.last_error} <Ago at={status.last_error_at} /></span>] as const] : []),
        ...(status.log_error ? [['Log error', <span class="bad-text">{status.log_error}</span>] as const] : []),
      ]} /></Card></div>
    </div>
  )
}

const steps = [['writes', 'Writes the state'], ['verifies', 'Reads it back and compares']] as const

/** The steps of the backup under way. */
function Progress({ phase }: { phase: string | undefined }) {
  const at = steps.findIndex(([name]) => name === phase)
  return (
    <ol class="steps" aria-label="The backup under way" aria-live="polite">
      {steps.map(([name, what], i) => <li key={name} aria-current={i === at ? 'step' : undefined}><Badge text={what} tone={i === at ? 'busy' : i < at ? 'good' : 'plain'} /></li>)}
    </ol>
  )
}

/** Takes a backup. A call that ends before the backup does not end it: the status says how it goes on. */
function useTake(phase: () => string | undefined, setRunning: (is: boolean) => void, reload: () => void) {
  const [error, setError] = useState<unknown>()
  const [done, setDone] = useState<Backup | undefined>()
  const alive = useRef(true)
  const now = useRef(phase)
  now.current = phase
  useEffect(() => () => {
    alive.current = false
  }, [])
  const wait = async (): Promise<void> => {
    const began = Date.now()
    for (let idle = 0; alive.current && idle < 4;) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      idle = now.current() ? 0 : idle + 1
    }
    const { backups, status } = await api.get('/v1/cluster/backups')
    const newest = backups[backups.length - 1]
    if (newest && newest.name === status.last_name && newest.verified_at > began - 20_000) setDone(newest)
    else throw new Error(status.last_error || 'The backup did not end with a verified copy: look at the log of the leader.')
  }
  const run = async (): Promise<void> => {
    setError(undefined)
    setDone(undefined)
    setRunning(true)
    const work = async (): Promise<void> => {
      try {
        setDone(await api.post('/v1/cluster/backups'))
      } catch (failure) {
        if (!(failure instanceof UnknownError)) throw failure
        await wait()
      }
    }
    void work().catch((failure: unknown) => setError(failure)).finally(() => {
      setRunning(false)
      reload()
    })
    return Promise.resolve()
  }
  return { run, error, done }
}
