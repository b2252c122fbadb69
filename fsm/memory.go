package fsm

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Each write of a memory gets the next number of its agent's writes, and each
// delete the next of its deletes, so that an index in memory is brought up to
// date by what has changed since: see recall.Source.

// memoryGoneMax is how many deletes of an agent are remembered for that. An
// index that is further behind is built anew.
const memoryGoneMax = 128

// memoryWork is one memory while an op changes it.
type memoryWork struct {
	*txn.Tx
	agent, id string
	whole     *logpb.MemoryAgentRow // what the agent remembers
	old       *logpb.MemoryRow      // the memory as it stands; nil where there is none
}

// openMemory reads a memory. One that has expired is cleared away first.
func openMemory(c *txn.Tx, name, id string) (*memoryWork, error) {
	if err := agent.ValidID("agent", name); err != nil {
		return nil, err
	}
	if err := agent.ValidID("id", id); err != nil {
		return nil, err
	}
	w := &memoryWork{Tx: c, agent: name, id: id}
	raw, err := c.Rows.Get(kv.IDKey(kv.KindMemoryAgent, c.Scope, name))
	if err != nil {
		return nil, err
	}
	if w.whole, err = command.DecodeMemoryAgent(name, raw); err != nil {
		return nil, err
	}
	if raw, err = c.Rows.Get(w.key(kv.KindMemory)); err != nil || raw == nil {
		return w, err
	}
	if w.old, err = command.DecodeMemoryRow(id, raw); err != nil {
		return nil, err
	}
	if txn.Expired(w.old.ExpiresAt, c.Progress.Wall) {
		return w, w.drop()
	}
	return w, nil
}

func (w *memoryWork) key(kind string) string { return kv.MemoryKey(kind, w.Scope, w.agent, w.id) }

func writeMemory(c *txn.Tx, op *agent.WriteMemory) (agent.OpResult, error) {
	if err := validMemory(op); err != nil {
		return nil, err
	}
	w, err := openMemory(c, op.Agent, op.ID)
	if err != nil {
		return nil, err
	}
	if err := txn.CheckNotErased(c, op.Agent); err != nil {
		return nil, err
	}
	if err := c.CheckWritableRow(w.key(kv.KindMemoryTombstone), op.ID, op.IfIncarnation, w.old.GetIncarnation()); err != nil {
		return nil, err
	}
	if err := txn.RevisionMatches(op.ID, op.IfRevision, w.old.GetRevision()); err != nil {
		return nil, err
	}
	if err := w.room(op); err != nil {
		return nil, err
	}
	row, err := w.put(op)
	if err != nil {
		return nil, err
	}
	return &agent.MemoryResult{
		Agent: op.Agent, ID: op.ID, Incarnation: row.Incarnation, Revision: row.Revision, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}, nil
}

// validMemory judges of what the door has judged what rows and indexes rely
// on: an entry may come from elsewhere.
func validMemory(op *agent.WriteMemory) error {
	if op.Session != "" {
		if err := agent.ValidID("session_id", op.Session); err != nil {
			return err
		}
	}
	if op.ExpiresAt < 0 {
		return agent.Invalid("expires_at", "expires_at = %d must not be negative", op.ExpiresAt)
	}
	return agent.ValidEmbedding("embedding", op.Embedding)
}

// room holds a write to what its agent may remember, and its embedding to the
// length of the others. What takes nothing more is let through.
func (w *memoryWork) room(op *agent.WriteMemory) error {
	policy, whole := w.Record.Policy, w.whole
	most := txn.OrDefault(policy.MemoriesMax, agent.MemoriesMaxDefault)
	if w.old == nil && whole.Entries >= most {
		return memoryRefusal(op.Agent, "memories_max", most)
	}
	most = txn.OrDefault(policy.MemoryBytesMax, agent.AgentMemoryBytesMaxDefault)
	if size := uint64(op.Size()); size > w.old.GetSize() && whole.Bytes-w.old.GetSize()+size > most {
		return memoryRefusal(op.Agent, "memory_bytes_max", most)
	}
	others := whole.Vectors
	if w.old.GetDims() > 0 {
		others--
	}
	if others > 0 && len(op.Embedding) > 0 && len(op.Embedding) != int(whole.Dims) {
		return agent.Invalid("embedding", "embedding has %d numbers, the others that agent %q has are of %d: embed all with one model",
			len(op.Embedding), op.Agent, whole.Dims)
	}
	return nil
}

func memoryRefusal(name, limit string, bound uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "agent %q may not remember more: %s = %d; delete some, or raise the scope's policy", name, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	e.RetryAfterMS = txn.QuotaRetryMS
	return e
}

// put writes the memory's next revision.
func (w *memoryWork) put(op *agent.WriteMemory) (*logpb.MemoryRow, error) {
	now := w.Progress.Wall
	row := &logpb.MemoryRow{
		Revision: 1, Session: op.Session, Class: op.Class, Kind: op.Kind, Tags: op.Tags, ObservedAt: now, ExpiresAt: op.ExpiresAt,
		CreatedAt: now, UpdatedAt: now, Size: uint64(op.Size()), Dims: uint32(len(op.Embedding)),
	}
	if op.ObservedAt != nil {
		row.ObservedAt = *op.ObservedAt
	}
	if op.TTL > 0 {
		row.ExpiresAt = w.Deadline(op.TTL.Milliseconds())
	}
	if old := w.old; old == nil {
		row.Incarnation = w.NewIncarnation()
		if w.whole.Entries == 0 {
			w.whole.Life = row.Incarnation
		}
		w.whole.Entries++
		w.AddUsage(1, int64(row.Size))
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		if w.Level >= txn.ListedLevel {
			row.Written = w.NewIncarnation()
		}
		w.unorder()
		w.AddUsage(0, int64(row.Size)-int64(old.Size))
	}
	w.whole.Writes++
	row.Order = w.whole.Writes
	w.whole.Bytes += row.Size
	if row.Dims > 0 {
		w.whole.Vectors++
		w.whole.Dims = row.Dims
	}
	return row, w.store(row, &logpb.MemoryBody{
		Content: op.Content, Data: op.Data, Source: op.Source, Metadata: op.Metadata, Embedding: op.Embedding,
	})
}

// store writes a memory's rows, and what its agent remembers as a whole.
func (w *memoryWork) store(row *logpb.MemoryRow, body *logpb.MemoryBody) error {
	if err := w.storeOne(row, body); err != nil {
		return err
	}
	return w.storeAgent()
}

// storeOne is store without what the agent remembers as a whole.
func (w *memoryWork) storeOne(row *logpb.MemoryRow, body *logpb.MemoryBody) error {
	rawRow, err := command.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode memory %q: %w", w.id, err)
	}
	rawBody, err := command.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the body of memory %q: %w", w.id, err)
	}
	w.Rows.Set(w.key(kv.KindMemory), rawRow)
	w.Rows.Set(w.key(kv.KindMemoryBody), rawBody)
	w.Rows.Set(kv.MemoryTimeKey(w.Scope, w.agent, row.ObservedAt, w.id), rawRow)
	w.Rows.Set(kv.MemoryOrderKey(w.Scope, w.agent, row.Order), []byte(w.id))
	w.Rows.Set(kv.MemorySessionKey(w.Scope, w.agent, row.Session, row.Order), []byte(w.id))
	listMemory(w.Entry, w.Scope, w.agent, w.id, row)
	w.SetExpiry(row.ExpiresAt, w.key(kv.KindMemory))
	w.RecordChange(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.agent, Key: w.id, Revision: row.Revision})
	return nil
}

// unorder removes the memory from all orders, and from the sums of its agent.
func (w *memoryWork) unorder() {
	old := w.old
	w.Rows.Remove(kv.MemoryTimeKey(w.Scope, w.agent, old.ObservedAt, w.id))
	w.Rows.Remove(kv.MemoryOrderKey(w.Scope, w.agent, old.Order))
	w.Rows.Remove(kv.MemorySessionKey(w.Scope, w.agent, old.Session, old.Order))
	unlistMemory(w.Entry, w.Scope, w.agent, old)
	w.ClearExpiry(old.ExpiresAt, w.key(kv.KindMemory))
	w.whole.Bytes = txn.Saturate(w.whole.Bytes, -int64(old.Size))
	if old.Dims > 0 {
		if w.whole.Vectors = txn.Saturate(w.whole.Vectors, -1); w.whole.Vectors == 0 {
			w.whole.Dims = 0
		}
	}
	w.old = nil
}

// drop removes the memory as it stands.
func (w *memoryWork) drop() error {
	w.Rows.Remove(w.key(kv.KindMemory))
	w.Rows.Remove(w.key(kv.KindMemoryBody))
	w.RecordChange(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.agent, Key: w.id, Deleted: true})
	w.AddUsage(-1, -int64(w.old.Size))
	w.unorder()
	w.whole.Entries = txn.Saturate(w.whole.Entries, -1)
	w.whole.Deletes++
	raw, err := command.Marshal(&logpb.MemoryGone{Id: w.id, Before: w.whole.Writes + 1})
	if err != nil {
		return fmt.Errorf("encode that memory %q has gone: %w", w.id, err)
	}
	w.Rows.Set(kv.MemoryGoneKey(w.Scope, w.agent, w.whole.Deletes), raw)
	if w.whole.Deletes > memoryGoneMax {
		w.Rows.Remove(kv.MemoryGoneKey(w.Scope, w.agent, w.whole.Deletes-memoryGoneMax))
	}
	return w.storeAgent()
}

// storeAgent writes what the agent remembers as a whole; one that remembers
// nothing leaves nothing behind.
func (w *memoryWork) storeAgent() error {
	key := kv.IDKey(kv.KindMemoryAgent, w.Scope, w.agent)
	if w.whole.Entries == 0 {
		proto.Reset(w.whole)
		w.Rows.Remove(key)
		gone := kv.IDKey(kv.KindMemoryGone, w.Scope, w.agent)
		return w.Rows.RemoveRange(gone, kv.After(gone))
	}
	raw, err := command.Marshal(w.whole)
	if err != nil {
		return fmt.Errorf("encode what agent %q remembers: %w", w.agent, err)
	}
	w.Rows.Set(key, raw)
	return nil
}

func deleteMemory(c *txn.Tx, op *agent.DeleteMemory) (agent.OpResult, error) {
	w, err := openMemory(c, op.Agent, op.ID)
	if err != nil {
		return nil, err
	}
	incarnation := w.old.GetIncarnation()
	if err := txn.SameIncarnation(op.ID, op.IfIncarnation, incarnation); err != nil {
		return nil, err
	}
	if err := txn.RevisionMatches(op.ID, op.IfRevision, w.old.GetRevision()); err != nil {
		return nil, err
	}
	tombstone := w.key(kv.KindMemoryTombstone)
	if w.old == nil {
		return c.DeleteMissingRow(tombstone, op.Seal)
	}
	if err := w.drop(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: incarnation}, c.WriteTombstoneRow(tombstone, incarnation, op.Seal)
}

// expireMemory clears a memory away that has expired; both is its agent's id, a
// NUL and its own.
func expireMemory(c *txn.Tx, both string, when int64) error {
	name, id, _ := strings.Cut(both, kv.Separator)
	raw, err := c.Rows.Get(kv.MemoryKey(kv.KindMemory, c.Scope, name, id))
	if err != nil || raw == nil {
		return err
	}
	row := &logpb.MemoryRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return fmt.Errorf("decode memory %q: %w", id, err)
	}
	if row.ExpiresAt != when {
		return nil
	}
	_, err = openMemory(c, name, id) // clears away what has expired
	return err
}
