/** The tones of a badge. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'plain'

const tones: Record<string, Tone> = {
  alive: 'good', suspect: 'warn', failed: 'bad', left: 'plain', unknown: 'warn',
  running: 'busy', waiting: 'warn', hibernated: 'plain', finished: 'good', error: 'bad', cancelled: 'plain', new: 'plain',
  pending: 'warn', approved: 'good', edited: 'good', denied: 'bad', expired: 'plain', withdrawn: 'plain',
  awake: 'good', waking: 'busy', draining: 'warn', dormant: 'plain', owned: 'good', free: 'warn',
  stopped: 'plain', adopted: 'good', misplaced: 'bad', parked: 'bad', failing: 'warn', set: 'plain', due: 'busy', completed: 'good', idle: 'plain', interrupted: 'warn', rolled_back: 'warn', message: 'busy', tool_call: 'warn', tool_result: 'good',
}

/** A word with a dot whose colour says how things are. */
export function Badge({ text, tone }: { text: string; tone?: Tone }) {
  return <span class={`badge ${tone ?? tones[text] ?? 'plain'}`}><span class="clip">{text.replaceAll('_', ' ')}</span></span>
}
