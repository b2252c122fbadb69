process.env.DORMOUSE_URLS ??= 'http://127.0.0.1:7600'
import { Client } from '@dormouse/client'
import { DormouseSession } from '@dormouse/openai-agents'
import { Agent, run } from '@openai/agents'
import { FakeModel, message } from './model.js' // in the place of a model of a provider

const client = new Client({ endpoints: process.env.DORMOUSE_URLS!.split(','), token: process.env.DORMOUSE_TOKEN })
const agent = new Agent({ name: 'Assistant', model: new FakeModel([[message('Noted.')], [message('You like tea.')]]) })

const session = new DormouseSession(client, { sessionId: 'ada' })
await run(agent, 'I like tea.', { session })

const elsewhere = new DormouseSession(client, { sessionId: 'ada' }) // in any process
const { finalOutput } = await run(agent, 'What do I like?', { session: elsewhere })
console.log(finalOutput, (await elsewhere.getItems()).length)
await session.clearSession()
