package deletion

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	"dormouse/fsm/value"
	logpb "dormouse/proto/log"
)

// Ops are the ops on deletions by prefix.
var Ops = []txn.Op{txn.OpOf(DeletePrefix)}

// Reads are the reads of deletions by prefix.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// removals holds how each kind of rows is removed: see value.RemoveDeleted.
var removals = map[string]func(c *txn.Tx, id string) (rows int, err error){
	kv.KindValue: value.RemoveDeleted, kv.KindCheckpoint: checkpoint.RemoveDeleted, kv.KindThread: thread.RemoveDeleted,
}

// StepRows is about how many rows one step removes. It is the same on all nodes: only tests change it,
// before they open a machine.
var StepRows = agent.DeletePrefixRowsMax

// keyRows is fewer rows than any key has.
const keyRows = 4

// DeletePrefix runs delete_prefix.
func DeletePrefix(c *txn.Tx, op *agent.DeletePrefix) (agent.OpResult, error) {
	whole := agent.Commit{Ops: []agent.Op{op}}
	if err := whole.Validate(); err != nil { // the entry may come from another build
		return nil, err
	}
	now := c.Progress
	row := &logpb.PrefixDeletion{
		Kind: string(op.Kind), Prefix: op.Prefix, Incarnation: c.NewIncarnation(), Index: now.Index, DeletedAt: now.Wall, Principal: c.Principal,
	}
	id := fmt.Sprintf("%016x", row.Incarnation)
	c.AddUsage(0, 0)
	one := txn.DeletionOf(id, row)
	c.Deletions = c.Deletions.With(c.Scope, one)
	c.StoreDeletion(id, row)
	c.Rows.Set(kv.IDKey(kv.KindDeleting, c.Scope, id), command.Marshal(row))
	if one.Kind == kv.KindThread {
		c.NotifyWatchers(kv.ScopeKey(kv.KindThread, c.Scope) + op.Prefix)
	}
	row, err := step(c, id)
	if err != nil {
		return nil, err
	}
	if row.CompletedAt == 0 {
		if err := underLimits(c); err != nil {
			return nil, err
		}
	}
	return command.DecodeDeletion(id, row), trim(c)
}

// underLimits refuses a deletion that does not complete at once if too many are under way.
func underLimits(c *txn.Tx) error {
	refused := func(limit string, most int, where string) error {
		e := agent.Errorf(agent.CodeOverloaded, "%d deletions by prefix are under way in %s: retry when one is complete", most, where)
		e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, most), txn.QuotaRetryMS
		return e
	}
	switch here, all := c.Deletions.Under(c.Scope); {
	case here > agent.DeletionsOfScopeMax:
		return refused("deletions_of_scope_max", agent.DeletionsOfScopeMax, fmt.Sprintf("scope %q", c.Scope))
	case all > agent.DeletionsMax:
		return refused("deletions_max", agent.DeletionsMax, "the cluster")
	}
	return nil
}

// trim removes the oldest receipts of complete deletions, so that the scope keeps
// agent.DeletionsKeptMax.
func trim(c *txn.Tx) error {
	prefix := kv.ScopeKey(kv.KindDeletion, c.Scope)
	keys, _, err := c.Rows.Keys(prefix, kv.After(prefix), agent.DeletionsKeptMax+1)
	if err != nil {
		return err
	}
	for excess := len(keys) - agent.DeletionsKeptMax; excess > 0 && len(keys) > 0; keys = keys[1:] {
		row, err := c.LoadDeletion(txn.IDAfter(prefix, keys[0]))
		if err != nil {
			return err
		}
		if row.CompletedAt == 0 {
			continue
		}
		c.Rows.Remove(keys[0])
		c.ClearExpiry(row.DueAt, keys[0])
		excess--
	}
	return nil
}

// step removes the next rows of a deletion, about StepRows, and returns its receipt.
func step(c *txn.Tx, id string) (*logpb.PrefixDeletion, error) {
	row, err := c.LoadDeletion(id)
	if err != nil {
		return nil, err
	}
	one, next := txn.DeletionOf(id, row), row.Next
	remove := removals[one.Kind]
	if remove == nil {
		return nil, fmt.Errorf("deletion %q is of kind %q, which this version does not know", id, row.Kind)
	}
	base := kv.ScopeKey(one.Kind, c.Scope)
	lower := base + one.Prefix
	upper := kv.After(lower)
	if next != "" {
		lower = base + next + kv.Separator + kv.Separator
	}
	keys, more, err := c.Rows.Keys(lower, upper, max(StepRows/keyRows, 1))
	if err != nil {
		return nil, err
	}
	for rows := 0; len(keys) > 0 && rows < StepRows; keys = keys[1:] {
		next = txn.IDAfter(base, keys[0])
		n, err := remove(c, next)
		if err != nil {
			return nil, err
		}
		rows += 1 + n
	}
	if row, err = c.LoadDeletion(id); err != nil { // it has counted the removed rows
		return nil, err
	}
	row.Next = next
	store(c, id, row, !more && len(keys) == 0)
	return row, nil
}

// store writes a receipt and its queue entry: due at once while rows are left, and otherwise when the
// receipt may be removed.
func store(c *txn.Tx, id string, row *logpb.PrefixDeletion, complete bool) {
	key := kv.IDKey(kv.KindDeletion, c.Scope, id)
	c.ClearExpiry(row.DueAt, key)
	row.DueAt = max(c.Progress.Wall, 1)
	if complete {
		row.CompletedAt, row.DueAt = row.DueAt, c.Deadline(agent.DeletionTTL.Milliseconds())
		c.Rows.Remove(kv.IDKey(kv.KindDeleting, c.Scope, id))
		c.Deletions = c.Deletions.Without(c.Scope, id)
	}
	c.SetExpiry(row.DueAt, key)
	c.StoreDeletion(id, row)
}

// Expire continues a deletion, or removes a receipt. A step costs all that an entry may sweep.
func Expire(c *txn.Tx, id string, when int64) (cost int, err error) {
	row, err := c.LoadDeletion(id)
	if err != nil || row == nil || row.DueAt != when {
		return 0, err
	}
	if row.CompletedAt != 0 {
		c.Rows.Remove(kv.IDKey(kv.KindDeletion, c.Scope, id))
		return 0, nil
	}
	c.Principal = row.Principal
	_, err = step(c, id)
	return txn.SweepMax, err
}

// Get answers get_deletion.
func Get(r txn.Reader, q *agent.GetDeletion) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindDeletion, r.Scope, q.ID))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("deletion", q.ID)
	}
	row, err := command.DecodeDeletionRow(q.ID, raw)
	if err != nil {
		return nil, err
	}
	return command.DecodeDeletion(q.ID, row), nil
}

// List answers list_deletions.
func List(r txn.Reader, q *agent.ListDeletions) (agent.Found, error) {
	list := &agent.DeletionList{}
	next, err := r.EachInPage(kv.ScopeKey(kv.KindDeletion, r.Scope), q.Page, func(id string, raw []byte) (int, error) {
		row, err := command.DecodeDeletionRow(id, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, *command.DecodeDeletion(id, row))
		return len(id) + len(raw), nil
	})
	list.Next = next
	return list, err
}
