import { api } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Action, jsonOf } from '../../parts/dialog.js'
import { classes } from './recall.js'

/** Writes a memory of an agent. */
export function WriteMemory({ agent, done }: { agent: string; done: () => void }) {
  if (!may('write')) return null
  return (
    <Action key={agent} label="Write a memory" title="Write a memory" done={done} fields={[
      { name: 'agent', label: 'Agent', value: agent },
      { name: 'content', label: 'Content', lines: 3 },
      { name: 'class', label: 'Class', value: 'semantic', choices: classes },
      { name: 'tags', label: 'Tags', optional: true, hint: 'With commas between' },
      { name: 'embedding', label: 'Vector', optional: true, hint: 'A JSON list of numbers, for searches by a vector' },
      { name: 'id', label: 'Id', optional: true, hint: 'Without one, the id follows from the content: equal memories are one' },
    ]} run={(v) => {
      const tags = v['tags']!.split(',').map((t) => t.trim()).filter(Boolean)
      const embedding = jsonOf<number[]>('The vector', v['embedding'])
      const body = { content: v['content']!, class: v['class'] as (typeof classes)[number], tags, ...(embedding ? { embedding } : {}) }
      const params = { agent: v['agent']! }
      return v['id'] ? api.put('/v1/memory/{agent}/{id}', { params: { ...params, id: v['id'] }, body }) : api.post('/v1/memory/{agent}', { params, body })
    }} />
  )
}
