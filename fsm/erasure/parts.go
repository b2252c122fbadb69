package erasure

import (
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// witness adds a removed thing to the receipt's hash.
func (e *Erasure) witness(kind, id string, numbers ...uint64) {
	hash := agent.Head(e.row.Hash).Witness(kind, id, numbers...)
	e.row.Hash = hash[:]
}

// sealLeft returns how long the removed ids stay sealed.
func (e *Erasure) sealLeft() time.Duration {
	return time.Duration(max(e.row.SealedUntil-e.Progress.Wall, 0)) * time.Millisecond
}

// own removes the rows under the agent's own key.
func (e *Erasure) own(checkpoint *logpb.CheckpointRow) error {
	if err := e.checkpoint(e.agent, checkpoint); err != nil {
		return err
	}
	if err := e.timers(); err != nil {
		return err
	}
	return e.memories()
}

// checkpoint removes a checkpoint, and the threads that its revisions point to; a nil row is none.
func (e *Erasure) checkpoint(key string, row *logpb.CheckpointRow) error {
	if row == nil {
		return nil
	}
	pointers, err := e.pointers(key, row)
	if err != nil {
		return err
	}
	e.named += checkpoint.Rows(row)
	if err := checkpoint.Drop(e.Tx, key, row); err != nil {
		return err
	}
	revisions := uint64(len(row.Kept)) + 1
	e.row.Checkpoints++
	e.row.Revisions += revisions
	e.witness("checkpoint", key, row.Incarnation, row.Revision, revisions)
	if err := e.WriteTombstone(kv.KindCheckpointTombstone, key, row.Incarnation, e.sealLeft()); err != nil {
		return err
	}
	for _, p := range pointers {
		if err := e.thread(p.Thread, p.Incarnation); err != nil {
			return err
		}
	}
	return nil
}

// pointers returns the threads that a checkpoint's revisions point to, each thread once.
func (e *Erasure) pointers(key string, row *logpb.CheckpointRow) (all []*logpb.Pointer, err error) {
	add := func(p *logpb.Pointer) {
		if p != nil && !slices.ContainsFunc(all, func(o *logpb.Pointer) bool {
			return o.Thread == p.Thread && o.Incarnation == p.Incarnation
		}) {
			all = append(all, p)
		}
	}
	add(row.Thread)
	for back := range uint64(len(row.Kept)) {
		older, err := checkpoint.StoredRevision(e.Tx, key, row, row.Revision-1-back)
		if err != nil {
			return nil, err
		}
		add(older.Thread)
	}
	return all, nil
}

// thread removes one incarnation of a thread that the agent used; 0 means the current one. A thread
// that was created since stays, and so does one that another checkpoint points to.
func (e *Erasure) thread(id string, incarnation uint64) error {
	t, err := thread.Load(e.Tx, id)
	if err != nil || t == nil || incarnation != 0 && t.Incarnation != incarnation || t.Incarnation > e.row.Incarnation {
		return err
	}
	used, err := pointedTo(e.Tx, t)
	if err != nil {
		return err
	}
	if used {
		e.row.Kept++
		return nil
	}
	e.named += thread.Rows(t)
	if err := thread.Drop(e.Tx, t); err != nil {
		return err
	}
	e.row.Threads++
	e.row.Entries += t.Rev - t.Floor
	e.witness("thread", id, t.Incarnation, t.Rev, t.Floor)
	e.witness("head", agent.Head(t.Head).String())
	return e.WriteTombstone(kv.KindThreadTombstone, id, t.Incarnation, e.sealLeft())
}

// pointedTo reports whether checkpoints of others point to a thread. If there are more than
// pointersMax of them, it returns true.
func pointedTo(c *txn.Tx, t *logpb.ThreadMeta) (bool, error) {
	prefix := kv.IDKey(kv.KindPin, c.Scope, t.Id)
	keys, more, err := c.Rows.Keys(prefix, kv.After(prefix), pointersMax)
	if err != nil || more {
		return more, err
	}
	for _, key := range keys {
		row, err := checkpoint.Load(c, key[len(prefix):])
		if err != nil {
			return false, err
		}
		if row != nil && !c.Gone(kv.KindCheckpoint, key[len(prefix):], row) && row.Thread.GetIncarnation() == t.Incarnation {
			return true, nil
		}
	}
	return false, nil
}

// memories removes the agent's memories. Their rows in the list of all memories are removed by
// unlistMemories. Their rows in the queue of expiries are dead: see txn.CountDead.
func (e *Erasure) memories() error {
	whole, err := Remembered(e.Tx, e.agent)
	if err != nil || whole.Entries == 0 {
		return err
	}
	for _, kind := range []string{kv.KindMemory, kv.KindMemoryBody, kv.KindMemoryOrder, kv.KindMemorySession, kv.KindMemoryTime, kv.KindMemoryAgent, kv.KindMemoryGone} {
		prefix := kv.IDKey(kind, e.Scope, e.agent)
		if err := e.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return err
		}
	}
	e.RecordChange(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: e.agent, Deleted: true})
	e.AddUsage(-int64(whole.Entries), -int64(whole.Bytes))
	if err := e.CountAgent(kv.IDKey(kv.KindMemoryAgent, e.Scope, e.agent), -1); err != nil {
		return err
	}
	e.row.Memories += whole.Entries
	e.witness("memories", e.agent, whole.Life, whole.Entries, whole.Bytes)
	return e.CountDead(whole.Entries)
}

// clear removes the agent's memories from the list of all memories, then its sessions and
// conversations. It continues where the last call stopped, and removes about EraseRowsMax rows. It
// waits until the index of conversations is complete.
func (e *Erasure) clear() error {
	e.row.CompletedAt = 0
	if e.row.Conversations != nil {
		if found, err := conversation.Backfill.Complete(e.Rows); err != nil || !found {
			return err
		}
	}
	rows, all, err := e.unlistMemories()
	if err == nil && all {
		rows, all, err = e.each(kv.KindSessionAgent, &e.row.Next, rows, e.clearSession)
	}
	if err == nil && all && e.row.Conversations != nil {
		_, all, err = e.each(kv.KindConversationAgent, &e.row.NextConversation, rows, e.clearConversation)
	}
	if err == nil && all {
		e.finish()
	}
	return err
}

// each visits the agent's index rows after the id next, which it advances. It stops when the
// visited items have EraseRowsMax rows, and reports whether those were all.
func (e *Erasure) each(index string, next *string, rows int, visit func(id string) (rows int, err error)) (int, bool, error) {
	prefix := kv.IDKey(index, e.Scope, e.agent)
	lower := prefix
	if *next != "" {
		lower = prefix + *next + kv.Separator + kv.Separator
	}
	keys, more, err := e.Rows.Keys(lower, kv.After(prefix), agent.EraseRowsMax)
	if err != nil {
		return rows, false, err
	}
	for ; len(keys) > 0 && rows < agent.EraseRowsMax; keys = keys[1:] {
		*next = txn.IDAfter(prefix, keys[0])
		n, err := visit(*next)
		if err != nil {
			return rows, false, err
		}
		rows += 1 + n
	}
	return rows, !more && len(keys) == 0, nil
}

func (e *Erasure) clearSession(id string) (rows int, err error) {
	s, err := session.LoadStored(e.Tx, id)
	if err != nil || s.Incarnation() == 0 || txn.SessionNamedSince(s.Row) > e.row.Incarnation {
		return 0, err
	}
	before := e.named
	err = e.session(s)
	if e.Level < txn.NamedRowsLevel {
		before = e.named
	}
	return sessionRows(s.Row) + e.named - before, err
}

func (e *Erasure) clearConversation(id string) (rows int, err error) {
	w, err := conversation.LoadStored(e.Tx, id)
	if err != nil || !w.Exists() || conversation.NamedSince(w.Row) > e.row.Incarnation {
		return 0, err
	}
	return conversationRows(w.Row), e.conversation(w)
}

// conversationRows returns about how many rows the removal of a conversation deletes. Many messages
// and their ids are removed by range deletes.
func conversationRows(row *logpb.ConversationRow) int {
	const itself, perMessage = 10, 2
	return itself + perMessage*int(min(row.Messages, kv.PointDeletesMax))
}

// conversation removes one of the agent's conversations, with its messages.
func (e *Erasure) conversation(w *conversation.Conversation) error {
	row := w.Row
	count := *e.row.Conversations + 1
	e.row.Conversations = &count
	e.witness("conversation", w.Id, row.Incarnation, row.Revision, row.Messages)
	if err := w.Drop(); err != nil {
		return err
	}
	return e.WriteTombstone(kv.KindConversationTombstone, w.Id, row.Incarnation, e.sealLeft())
}

// sessionRows returns about how many rows the removal of a session deletes, besides those of the
// checkpoint and the threads that it names.
func sessionRows(row *logpb.SessionRow) int {
	const itself, review = 12, 4
	return itself + len(row.RequestSizes) + len(row.QueueSizes) + len(session.EverySnapshot(row)) + review*int(row.Reviews)
}

// session removes one of the agent's sessions, with the thread and the
// checkpoint that it names.
func (e *Erasure) session(s *session.Session) error {
	row := s.Row
	e.row.Sessions++
	e.row.Reviews += row.Reviews
	if row.Lease != nil {
		e.row.Claims++
	}
	e.witness("session", s.Id, row.Incarnation, row.Revision, row.Reviews)
	if err := session.Drop(e.Tx, s); err != nil {
		return err
	}
	if err := e.WriteTombstone(kv.KindSessionTombstone, s.Id, row.Incarnation, e.sealLeft()); err != nil {
		return err
	}
	if row.Settings.Checkpoint != "" && row.Settings.Checkpoint != e.agent {
		if err := e.sessionCheckpoint(row.Settings.Checkpoint); err != nil {
			return err
		}
	}
	if row.Settings.Thread == "" {
		return nil
	}
	return e.thread(row.Settings.Thread, 0)
}

// sessionCheckpoint removes a checkpoint that a session names, unless it belongs to another agent,
// which has memories, sessions or conversations.
func (e *Erasure) sessionCheckpoint(key string) error {
	row, err := checkpoint.Live(e.Tx, key)
	if err != nil || row == nil || row.Incarnation > e.row.Incarnation {
		return err
	}
	whole, err := Remembered(e.Tx, key)
	if err != nil {
		return err
	}
	others, err := hasRow(e.Tx, kv.KindSessionAgent, key)
	if err == nil && !others && e.row.Conversations != nil {
		others, err = hasRow(e.Tx, kv.KindConversationAgent, key)
	}
	if err != nil {
		return err
	}
	if whole.Entries > 0 || others {
		e.row.Kept++
		return nil
	}
	return e.checkpoint(key, row)
}

// unlistMemories removes the erased memories from the list of all memories, at most EraseRowsMax
// rows, and reports whether those were all. Memories written since the erasure began stay.
func (e *Erasure) unlistMemories() (rows int, all bool, err error) {
	prefix := kv.IDKey(kv.KindMemoryPlace, e.Scope, e.agent)
	keys, more, err := e.Rows.Keys(prefix, prefix+kv.EncodeNumber(e.row.Incarnation), agent.EraseRowsMax/2)
	if err != nil {
		return 0, false, err
	}
	for _, key := range keys {
		e.Rows.Remove(key)
		e.Rows.Remove(kv.ListKeyOf(e.Scope, e.agent, prefix, key))
	}
	return 2 * len(keys), !more, nil
}

// pointersMax is how many checkpoints pointedTo reads.
const pointersMax = 256
