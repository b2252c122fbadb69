package fsm

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
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
	*commit
	agent, id string
	whole     *logpb.MemoryAgentRow // what the agent remembers
	old       *logpb.MemoryRow      // the memory as it stands; nil where there is none
}

// openMemory reads a memory. One that has expired is cleared away first.
func openMemory(c *commit, name, id string) (*memoryWork, error) {
	if err := agent.ValidID("agent", name); err != nil {
		return nil, err
	}
	if err := agent.ValidID("id", id); err != nil {
		return nil, err
	}
	w := &memoryWork{commit: c, agent: name, id: id}
	raw, err := c.rows.Get(kv.IDKey(kv.KindMemoryAgent, c.scope, name))
	if err != nil {
		return nil, err
	}
	if w.whole, err = command.DecodeMemoryAgent(name, raw); err != nil {
		return nil, err
	}
	if raw, err = c.rows.Get(w.key(kv.KindMemory)); err != nil || raw == nil {
		return w, err
	}
	if w.old, err = command.DecodeMemoryRow(id, raw); err != nil {
		return nil, err
	}
	if expired(w.old.ExpiresAt, c.progress.wall) {
		return w, w.drop()
	}
	return w, nil
}

func (w *memoryWork) key(kind string) string { return kv.MemoryKey(kind, w.scope, w.agent, w.id) }

func writeMemory(c *commit, op *agent.WriteMemory) (agent.OpResult, error) {
	if err := validMemory(op); err != nil {
		return nil, err
	}
	w, err := openMemory(c, op.Agent, op.ID)
	if err != nil {
		return nil, err
	}
	if err := unsealed(c, op.Agent); err != nil {
		return nil, err
	}
	if err := c.enterRow(w.key(kv.KindMemoryTombstone), op.ID, op.IfIncarnation, w.old.GetIncarnation()); err != nil {
		return nil, err
	}
	if err := revisionMatches(op.ID, op.IfRevision, w.old.GetRevision()); err != nil {
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
	policy, whole := w.record.Policy, w.whole
	most := orDefault(policy.MemoriesMax, agent.MemoriesMaxDefault)
	if w.old == nil && whole.Entries >= most {
		return memoryRefusal(op.Agent, "memories_max", most)
	}
	most = orDefault(policy.MemoryBytesMax, agent.AgentMemoryBytesMaxDefault)
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
	e.RetryAfterMS = quotaRetryMS
	return e
}

// put writes the memory's next revision.
func (w *memoryWork) put(op *agent.WriteMemory) (*logpb.MemoryRow, error) {
	now := w.progress.wall
	row := &logpb.MemoryRow{
		Revision: 1, Session: op.Session, Class: op.Class, Kind: op.Kind, Tags: op.Tags, ObservedAt: now, ExpiresAt: op.ExpiresAt,
		CreatedAt: now, UpdatedAt: now, Size: uint64(op.Size()), Dims: uint32(len(op.Embedding)),
	}
	if op.ObservedAt != nil {
		row.ObservedAt = *op.ObservedAt
	}
	if op.TTL > 0 {
		row.ExpiresAt = w.deadline(op.TTL.Milliseconds())
	}
	if old := w.old; old == nil {
		row.Incarnation = w.mint()
		if w.whole.Entries == 0 {
			w.whole.Life = row.Incarnation
		}
		w.whole.Entries++
		w.grow(1, int64(row.Size))
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		if w.level >= listedLevel {
			row.Written = w.mint()
		}
		w.unorder()
		w.grow(0, int64(row.Size)-int64(old.Size))
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
	w.rows.Set(w.key(kv.KindMemory), rawRow)
	w.rows.Set(w.key(kv.KindMemoryBody), rawBody)
	w.rows.Set(kv.MemoryTimeKey(w.scope, w.agent, row.ObservedAt, w.id), rawRow)
	w.rows.Set(kv.MemoryOrderKey(w.scope, w.agent, row.Order), []byte(w.id))
	w.rows.Set(kv.MemorySessionKey(w.scope, w.agent, row.Session, row.Order), []byte(w.id))
	listMemory(w.entry, w.scope, w.agent, w.id, row)
	w.expireAt(row.ExpiresAt, w.key(kv.KindMemory))
	w.tell(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.agent, Key: w.id, Revision: row.Revision})
	return nil
}

// unorder removes the memory from all orders, and from the sums of its agent.
func (w *memoryWork) unorder() {
	old := w.old
	w.rows.Remove(kv.MemoryTimeKey(w.scope, w.agent, old.ObservedAt, w.id))
	w.rows.Remove(kv.MemoryOrderKey(w.scope, w.agent, old.Order))
	w.rows.Remove(kv.MemorySessionKey(w.scope, w.agent, old.Session, old.Order))
	unlistMemory(w.entry, w.scope, w.agent, old)
	w.unexpire(old.ExpiresAt, w.key(kv.KindMemory))
	w.whole.Bytes = saturate(w.whole.Bytes, -int64(old.Size))
	if old.Dims > 0 {
		if w.whole.Vectors = saturate(w.whole.Vectors, -1); w.whole.Vectors == 0 {
			w.whole.Dims = 0
		}
	}
	w.old = nil
}

// drop removes the memory as it stands.
func (w *memoryWork) drop() error {
	w.rows.Remove(w.key(kv.KindMemory))
	w.rows.Remove(w.key(kv.KindMemoryBody))
	w.tell(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.agent, Key: w.id, Deleted: true})
	w.grow(-1, -int64(w.old.Size))
	w.unorder()
	w.whole.Entries = saturate(w.whole.Entries, -1)
	w.whole.Deletes++
	raw, err := command.Marshal(&logpb.MemoryGone{Id: w.id, Before: w.whole.Writes + 1})
	if err != nil {
		return fmt.Errorf("encode that memory %q has gone: %w", w.id, err)
	}
	w.rows.Set(kv.MemoryGoneKey(w.scope, w.agent, w.whole.Deletes), raw)
	if w.whole.Deletes > memoryGoneMax {
		w.rows.Remove(kv.MemoryGoneKey(w.scope, w.agent, w.whole.Deletes-memoryGoneMax))
	}
	return w.storeAgent()
}

// storeAgent writes what the agent remembers as a whole; one that remembers
// nothing leaves nothing behind.
func (w *memoryWork) storeAgent() error {
	key := kv.IDKey(kv.KindMemoryAgent, w.scope, w.agent)
	if w.whole.Entries == 0 {
		proto.Reset(w.whole)
		w.rows.Remove(key)
		gone := kv.IDKey(kv.KindMemoryGone, w.scope, w.agent)
		return w.rows.RemoveRange(gone, kv.After(gone))
	}
	raw, err := command.Marshal(w.whole)
	if err != nil {
		return fmt.Errorf("encode what agent %q remembers: %w", w.agent, err)
	}
	w.rows.Set(key, raw)
	return nil
}

func deleteMemory(c *commit, op *agent.DeleteMemory) (agent.OpResult, error) {
	w, err := openMemory(c, op.Agent, op.ID)
	if err != nil {
		return nil, err
	}
	incarnation := w.old.GetIncarnation()
	if err := sameIncarnation(op.ID, op.IfIncarnation, incarnation); err != nil {
		return nil, err
	}
	if err := revisionMatches(op.ID, op.IfRevision, w.old.GetRevision()); err != nil {
		return nil, err
	}
	tombstone := w.key(kv.KindMemoryTombstone)
	if w.old == nil {
		return c.deleteMissingRow(tombstone, op.Seal)
	}
	if err := w.drop(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: incarnation}, c.buryRow(tombstone, incarnation, op.Seal)
}

// expireMemory clears a memory away that has expired; both is its agent's id, a
// NUL and its own.
func expireMemory(c *commit, both string, when int64) error {
	name, id, _ := strings.Cut(both, kv.Separator)
	raw, err := c.rows.Get(kv.MemoryKey(kv.KindMemory, c.scope, name, id))
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
