import { createWorld } from '@dormouse/world'
import { setWorld } from 'workflow/runtime'

const world = createWorld({ baseUrl: 'http://localhost:3000' }) // DORMOUSE_URLS and DORMOUSE_TOKEN name the cluster
setWorld(world)
await world.start!() // deliver the messages of runs to the handlers of this server

const { data } = await world.runs.list({ workflowName: 'workflow//./workflows/order//processOrder', status: 'running', pagination: { limit: 10 } })
for (const run of data) console.log(run.runId, run.startedAt)

await world.close!()
