package txn

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// A deletion by prefix takes effect at the entry of its op, and the entries that follow remove the
// rows. Until a row is removed, reads and ops treat it as deleted, as they do a row that has expired.
// The deletions under way are few, so they are kept in memory.

// Deletion is a deletion by prefix that is under way. It deletes the rows of a kind whose key
// begins with its prefix and whose incarnation is lower than its own.
type Deletion struct {
	ID          string
	Kind        string // kv.KindValue, kv.KindCheckpoint or kv.KindThread
	Prefix      string
	Incarnation uint64
	At          int64 // the log's wall time at its op
}

// Deletions are the deletions under way of all scopes. They are not changed in place; nil is none.
type Deletions struct {
	scopes map[string][]Deletion // in the order of their incarnations
	count  int
}

// Deleted is what the rows of values, checkpoints and threads have in common.
type Deleted interface {
	GetIncarnation() uint64
	GetExpiresAt() int64
}

// Under returns how many deletions are under way in a scope and in all scopes.
func (d *Deletions) Under(scope string) (here, all int) {
	if d == nil {
		return 0, 0
	}
	return len(d.scopes[scope]), d.count
}

// of returns the first deletion of a scope that deletes a row, or nil.
func (d *Deletions) of(scope, kind, id string, incarnation uint64) *Deletion {
	if d == nil {
		return nil
	}
	all := d.scopes[scope]
	for i := range all {
		if one := &all[i]; incarnation < one.Incarnation && one.Kind == kind && strings.HasPrefix(id, one.Prefix) {
			return one
		}
	}
	return nil
}

// Delete reports whether a deletion of a scope deletes the row of an id.
func (d *Deletions) Delete(scope, kind, id string, incarnation uint64) bool {
	return d.of(scope, kind, id, incarnation) != nil
}

// ofKind reports whether a deletion of rows of a kind is under way in a scope.
func (d *Deletions) ofKind(scope, kind string) bool {
	if d == nil {
		return false
	}
	for i := range d.scopes[scope] {
		if d.scopes[scope][i].Kind == kind {
			return true
		}
	}
	return false
}

// With returns the deletions and one more, which is newer than those of its scope.
func (d *Deletions) With(scope string, one Deletion) *Deletions {
	next := d.without(scope, func(Deletion) bool { return false })
	next.scopes[scope] = append(next.scopes[scope], one)
	next.count++
	return next
}

// Without returns the deletions except one; an id of "" means all of the scope.
func (d *Deletions) Without(scope, id string) *Deletions {
	if here, _ := d.Under(scope); here == 0 {
		return d
	}
	next := d.without(scope, func(one Deletion) bool { return id == "" || one.ID == id })
	if next.count == 0 {
		return nil
	}
	return next
}

// without returns a copy that lacks some deletions of a scope, whose list may be appended to.
func (d *Deletions) without(scope string, gone func(Deletion) bool) *Deletions {
	next := &Deletions{scopes: map[string][]Deletion{}}
	if d == nil {
		return next
	}
	for name, all := range d.scopes {
		if name != scope {
			next.scopes[name] = all
			next.count += len(all)
			continue
		}
		var left []Deletion
		for _, one := range all {
			if !gone(one) {
				left = append(left, one)
			}
		}
		if len(left) > 0 {
			next.scopes[name] = left
			next.count += len(left)
		}
	}
	return next
}

// ReadDeletions reads the deletions under way from an engine.
func ReadDeletions(r storage.Reader) (*Deletions, error) {
	var all *Deletions
	err := EachRow(r, kv.KindDeleting, func(name string, raw []byte) error {
		scope, id, _ := strings.Cut(name, kv.Separator)
		id = strings.TrimSuffix(id, kv.Separator)
		row, err := command.DecodeDeletionRow(id, raw)
		if err != nil {
			return err
		}
		all = all.With(scope, DeletionOf(id, row))
		return nil
	})
	return all, err
}

// deletionKinds holds the kind of rows for each kind of a deletion.
var deletionKinds = map[string]string{
	string(agent.ChangedValue): kv.KindValue, string(agent.ChangedCheckpoint): kv.KindCheckpoint, string(agent.ChangedThread): kv.KindThread,
}

// deletionTombstones holds the kind of tombstones for each kind of rows.
var deletionTombstones = map[string]string{
	kv.KindValue: kv.KindValueTombstone, kv.KindCheckpoint: kv.KindCheckpointTombstone, kv.KindThread: kv.KindThreadTombstone,
}

// DeletionOf returns a deletion from its row.
func DeletionOf(id string, row *logpb.PrefixDeletion) Deletion {
	return Deletion{ID: id, Kind: deletionKinds[row.Kind], Prefix: row.Prefix, Incarnation: row.Incarnation, At: row.DeletedAt}
}

// Gone reports whether the row of an id has expired or is deleted by prefix, at the reader's entry.
func (r Reader) Gone(kind, id string, row Deleted) bool {
	return Expired(row.GetExpiresAt(), r.Progress.Wall) || r.Deletions.Delete(r.Scope, kind, id, row.GetIncarnation())
}

// Gone reports whether the row of an id has expired or is deleted by prefix.
func (c *Tx) Gone(kind, id string, row Deleted) bool {
	return Expired(row.GetExpiresAt(), c.Progress.Wall) || c.Deletions.Delete(c.Scope, kind, id, row.GetIncarnation())
}

// CountDeleted counts a row that was removed, if a deletion by prefix deletes it: its receipt counts
// it, and the id gets a tombstone. A row that had expired before the deletion does not count.
func (c *Tx) CountDeleted(kind, id string, row Deleted) error {
	by := c.Deletions.of(c.Scope, kind, id, row.GetIncarnation())
	if by == nil || Expired(row.GetExpiresAt(), by.At) {
		return nil
	}
	receipt, err := c.LoadDeletion(by.ID)
	if err != nil {
		return err
	}
	if receipt == nil {
		return fmt.Errorf("deletion %q is under way, and has no receipt", by.ID)
	}
	receipt.Removed++
	c.StoreDeletion(by.ID, receipt)
	return c.WriteTombstone(deletionTombstones[kind], id, row.GetIncarnation(), 0)
}

// LoadDeletion returns the row of a receipt, or nil.
func (c *Tx) LoadDeletion(id string) (*logpb.PrefixDeletion, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindDeletion, c.Scope, id))
	if err != nil || raw == nil {
		return nil, err
	}
	return command.DecodeDeletionRow(id, raw)
}

// StoreDeletion writes the row of a receipt.
func (c *Tx) StoreDeletion(id string, row *logpb.PrefixDeletion) {
	c.Rows.Set(kv.IDKey(kv.KindDeletion, c.Scope, id), command.Marshal(row))
}
