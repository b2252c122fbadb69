import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { plan, tickets } from './tickets.js'

/**
 * A model that calls tools by fixed rules. It takes the place of a language model, so that the example
 * needs no key and no network, and its check knows what must have happened. Replace it with one of yours.
 */
export class ScriptedModel extends BaseChatModel {
  constructor() {
    super({})
  }

  _llmType(): string {
    return 'scripted'
  }

  /** Answers with the next tool call of the plan, or with a last text. */
  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const ticket = tickets.find((each) => messages.some((message) => message.text.includes(`[${each.id}]`)))
    if (!ticket) throw new Error('no message names a ticket')
    const answers = messages.filter((message) => message.getType() === 'tool')
    const name = plan[answers.length]
    const message = name === undefined
      ? new AIMessage(`The ticket ${ticket.id} is closed.`)
      : new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id: `${ticket.id}.${answers.length + 1}`, name, args: { order: ticket.order } }] })
    return { generations: [{ text: message.text, message }] }
  }
}
