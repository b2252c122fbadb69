import { askNamed } from '../../api/ask.js'
import type { Schemas } from '../../api/client.js'

/** A record of an audit log. docs/audit.md explains its members. */
export interface AuditRecord {
  seq: number
  time: string
  node: string
  kind: string
  phase?: string
  begin?: number
  principal?: string
  address?: string
  method?: string
  action?: string
  scope?: string
  object?: string[]
  detail?: string
  outcome?: string
}

export const kinds = ['admin', 'backup', 'decision', 'delete', 'denial', 'file', 'gap', 'policy', 'start', 'token'] as const

/** The pages of the log that are read for one page of a filtered list. */
const pagesMax = 10

/** Reads records of one node, newest first, before a seq. next is undefined at the end of the log. */
export async function readRecords(node: string, kind: string, before: number, signal: AbortSignal): Promise<{ records: AuditRecord[]; next: number | undefined }> {
  const records: AuditRecord[] = []
  let at: number | null = before
  for (let n = 0; n < pagesMax && records.length < 100; n++) {
    const query = new URLSearchParams({ limit: kind ? '1000' : '200', ...(at ? { before_seq: String(at) } : {}) })
    const page: Schemas['AuditRecords'] = await askNamed(node, `/v1/cluster/audit?${query.toString()}`, signal)
    records.push(...(page.records as unknown as AuditRecord[]).filter((r) => !kind || r.kind === kind))
    at = page.next
    if (at === null) return { records, next: undefined }
    if (!kind) break
  }
  return { records, next: at ?? undefined }
}
