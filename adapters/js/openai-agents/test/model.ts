import { Usage, type Model, type ModelRequest, type ModelResponse, type StreamEvent } from '@openai/agents'

type Output = ModelResponse['output']

/** Returns a message of the assistant. */
export const message = (text: string): Output[number] => ({ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] })

/** A model that answers from a list, and keeps what it was asked. */
export class FakeModel implements Model {
  readonly asked: ModelRequest[] = []
  private readonly answers: Output[]

  constructor(answers: Output[]) {
    this.answers = answers
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.asked.push(structuredClone({ ...request, signal: undefined, tools: [], handoffs: [], outputType: 'text', modelSettings: {}, tracing: false }) as ModelRequest)
    const output = this.answers.shift()
    if (!output) throw new Error('the model has no more answers')
    return { usage: new Usage(), output }
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request)
    yield { type: 'response_done', response: { id: 'response', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 }, output } } as StreamEvent
  }
}
