package memory

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

// Ops are the ops on memories.
var Ops = []txn.Op{txn.OpOf(Write), txn.OpOf(Delete)}

// Reads are the reads of memories.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List), txn.ReadOf(Recall)}

// Each write of a memory gets the next number of its agent's writes, and each delete the next of
// its deletes. So an in-memory index is updated by the changes since its last update: see
// recall.Source.

// memoryGoneMax is how many deletes of an agent are kept for that. An index that is further behind
// is rebuilt.
const memoryGoneMax = 128

// Work is one memory while an op changes it.
type Work struct {
	*txn.Tx
	Agent, Id string
	Whole     *logpb.MemoryAgentRow // the totals of the agent's memories
	old       *logpb.MemoryRow      // the stored memory; nil if there is none
}

// openMemory reads a memory. It first removes an expired one.
func openMemory(c *txn.Tx, name, id string) (*Work, error) {
	if err := agent.ValidKey("agent", name); err != nil {
		return nil, err
	}
	if err := agent.ValidKey("id", id); err != nil {
		return nil, err
	}
	w := &Work{Tx: c, Agent: name, Id: id}
	raw, err := c.Rows.Get(kv.IDKey(kv.KindMemoryAgent, c.Scope, name))
	if err != nil {
		return nil, err
	}
	if w.Whole, err = command.DecodeMemoryAgent(name, raw); err != nil {
		return nil, err
	}
	if raw, err = c.Rows.Get(w.Key(kv.KindMemory)); err != nil || raw == nil {
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

// Key returns the key of a row of the memory.
func (w *Work) Key(kind string) string { return kv.MemoryKey(kind, w.Scope, w.Agent, w.Id) }

// Write runs write_memory.
func Write(c *txn.Tx, op *agent.WriteMemory) (agent.OpResult, error) {
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
	if err := c.CheckWritableRow(w.Key(kv.KindMemoryTombstone), op.ID, op.IfIncarnation, w.old.GetIncarnation()); err != nil {
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

// validMemory repeats the validation on which rows and indexes rely, because an entry may come from
// another build.
func validMemory(op *agent.WriteMemory) error {
	if op.Session != "" {
		if err := agent.ValidKey("session_id", op.Session); err != nil {
			return err
		}
	}
	if op.ExpiresAt < 0 {
		return agent.Invalid("expires_at", "expires_at = %d must not be negative", op.ExpiresAt)
	}
	return agent.ValidEmbedding("embedding", op.Embedding)
}

// room checks a write against the limits of its agent, and its embedding against the length of the
// others. A write that adds nothing always passes.
func (w *Work) room(op *agent.WriteMemory) error {
	policy, whole := w.Policy(), w.Whole
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
		return agent.Invalid("embedding", "embedding has %d numbers, but those of agent %q have %d: embed all with one model",
			len(op.Embedding), op.Agent, whole.Dims)
	}
	return nil
}

func memoryRefusal(name, limit string, bound uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "agent %q has too many memories: %s = %d; delete some, or raise the scope's policy", name, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	e.RetryAfterMS = txn.QuotaRetryMS
	return e
}

// put writes the memory's next revision.
func (w *Work) put(op *agent.WriteMemory) (*logpb.MemoryRow, error) {
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
		if w.Whole.Entries == 0 {
			w.Whole.Life = row.Incarnation
			if err := w.CountAgent(kv.IDKey(kv.KindMemoryAgent, w.Scope, w.Agent), 1); err != nil {
				return nil, err
			}
		}
		w.Whole.Entries++
		w.AddUsage(1, int64(row.Size))
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		if w.Level >= txn.ListedLevel {
			row.Written = w.NewIncarnation()
		}
		w.unorder()
		w.AddUsage(0, int64(row.Size)-int64(old.Size))
	}
	w.Whole.Writes++
	row.Order = w.Whole.Writes
	w.Whole.Bytes += row.Size
	if row.Dims > 0 {
		w.Whole.Vectors++
		w.Whole.Dims = row.Dims
	}
	return row, w.store(row, &logpb.MemoryBody{
		Content: op.Content, Data: op.Data, Source: op.Source, Metadata: op.Metadata, Embedding: op.Embedding,
	})
}

// store writes a memory's rows, and the totals of its agent.
func (w *Work) store(row *logpb.MemoryRow, body *logpb.MemoryBody) error {
	if err := w.StoreOne(row, body); err != nil {
		return err
	}
	return w.StoreAgent()
}

// StoreOne is store without the totals of the agent.
func (w *Work) StoreOne(row *logpb.MemoryRow, body *logpb.MemoryBody) error {
	rawRow := command.Marshal(row)
	rawBody := command.Marshal(body)
	w.Rows.Set(w.Key(kv.KindMemory), rawRow)
	w.Rows.Set(w.Key(kv.KindMemoryBody), rawBody)
	w.Rows.Set(kv.MemoryTimeKey(w.Scope, w.Agent, row.ObservedAt, w.Id), rawRow)
	w.Rows.Set(kv.MemoryOrderKey(w.Scope, w.Agent, row.Order), []byte(w.Id))
	w.Rows.Set(kv.MemorySessionKey(w.Scope, w.Agent, row.Session, row.Order), []byte(w.Id))
	listMemory(w.Entry, w.Scope, w.Agent, w.Id, row)
	w.SetExpiry(row.ExpiresAt, w.Key(kv.KindMemory))
	w.RecordChange(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.Agent, Key: w.Id, Revision: row.Revision})
	return nil
}

// unorder removes the memory from all orders, and from the totals of its agent.
func (w *Work) unorder() {
	old := w.old
	w.Rows.Remove(kv.MemoryTimeKey(w.Scope, w.Agent, old.ObservedAt, w.Id))
	w.Rows.Remove(kv.MemoryOrderKey(w.Scope, w.Agent, old.Order))
	w.Rows.Remove(kv.MemorySessionKey(w.Scope, w.Agent, old.Session, old.Order))
	unlistMemory(w.Entry, w.Scope, w.Agent, old)
	w.ClearExpiry(old.ExpiresAt, w.Key(kv.KindMemory))
	w.Whole.Bytes = txn.Saturate(w.Whole.Bytes, -int64(old.Size))
	if old.Dims > 0 {
		if w.Whole.Vectors = txn.Saturate(w.Whole.Vectors, -1); w.Whole.Vectors == 0 {
			w.Whole.Dims = 0
		}
	}
	w.old = nil
}

// drop removes the stored memory.
func (w *Work) drop() error {
	w.Rows.Remove(w.Key(kv.KindMemory))
	w.Rows.Remove(w.Key(kv.KindMemoryBody))
	w.RecordChange(&logpb.Change{Kind: string(agent.ChangedMemory), Agent: w.Agent, Key: w.Id, Deleted: true})
	w.AddUsage(-1, -int64(w.old.Size))
	w.unorder()
	if w.Whole.Entries = txn.Saturate(w.Whole.Entries, -1); w.Whole.Entries == 0 {
		if err := w.CountAgent(kv.IDKey(kv.KindMemoryAgent, w.Scope, w.Agent), -1); err != nil {
			return err
		}
	}
	w.Whole.Deletes++
	raw := command.Marshal(&logpb.MemoryGone{Id: w.Id, Before: w.Whole.Writes + 1})
	w.Rows.Set(kv.MemoryGoneKey(w.Scope, w.Agent, w.Whole.Deletes), raw)
	if w.Whole.Deletes > memoryGoneMax {
		w.Rows.Remove(kv.MemoryGoneKey(w.Scope, w.Agent, w.Whole.Deletes-memoryGoneMax))
	}
	return w.StoreAgent()
}

// StoreAgent writes the totals of the agent's memories, or removes their row if there are none.
func (w *Work) StoreAgent() error {
	key := kv.IDKey(kv.KindMemoryAgent, w.Scope, w.Agent)
	if w.Whole.Entries == 0 {
		proto.Reset(w.Whole)
		w.Rows.Remove(key)
		gone := kv.IDKey(kv.KindMemoryGone, w.Scope, w.Agent)
		return w.Rows.RemoveRange(gone, kv.After(gone))
	}
	raw := command.Marshal(w.Whole)
	w.Rows.Set(key, raw)
	return nil
}

// Delete runs delete_memory.
func Delete(c *txn.Tx, op *agent.DeleteMemory) (agent.OpResult, error) {
	w, err := openMemory(c, op.Agent, op.ID)
	if err != nil {
		return nil, err
	}
	if err := txn.Matches(op.ID, op.IfIncarnation, op.IfRevision, w.old); err != nil {
		return nil, err
	}
	incarnation := w.old.GetIncarnation()
	tombstone := w.Key(kv.KindMemoryTombstone)
	if w.old == nil {
		return c.DeleteMissingRow(tombstone, op.Seal)
	}
	if err := w.drop(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: incarnation}, c.WriteTombstoneRow(tombstone, incarnation, op.Seal)
}

// Expire removes an expired memory; both is its agent's id, a NUL and its own.
func Expire(c *txn.Tx, both string, when int64) error {
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
	_, err = openMemory(c, name, id) // removes the expired memory
	return err
}
