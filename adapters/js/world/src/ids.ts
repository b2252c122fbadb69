import { decodeTime, incrementBase32, ulid } from 'ulid'

const prefix = 'evnt_'
const timeChars = 10

/** Returns the id of the event after the last one of a log, and its time. Ids grow with the log, whatever the clocks of processes say. */
export function nextEvent(last: string | undefined, now = Date.now()): { id: string; at: Date } {
  if (last === undefined) return { id: prefix + ulid(now), at: new Date(now) }
  const before = last.slice(prefix.length)
  const time = decodeTime(before)
  if (time < now) return { id: prefix + ulid(now), at: new Date(now) }
  return { id: prefix + before.slice(0, timeChars) + incrementBase32(before.slice(timeChars)), at: new Date(time) }
}
