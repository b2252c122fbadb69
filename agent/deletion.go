package agent

import (
	"context"
	"time"

	"dormouse/internal/retry"
)

// DeletePrefix deletes all values, checkpoints or threads of a scope whose key begins
// with a prefix.
//
// The deletion takes effect at once: reads and writes after this commit treat all of
// them as deleted. What is written under the prefix later stays. Rows that do not fit
// the log entry of the commit are removed by later entries, DeletePrefixRowsMax at a
// time; then the PrefixDeletion is complete. Until then the usage of the scope still
// counts the rows that are left. Each deleted key is a change of the scope, at the entry
// that removes its rows.
type DeletePrefix struct {
	Kind   ChangeKind // ChangedValue, ChangedCheckpoint or ChangedThread
	Prefix string
	All    bool // instead of a prefix: delete all of the kind
}

// PrefixDeletion is the receipt of a DeletePrefix: the op's result, and what GetDeletion
// reads. Removed grows until it is complete.
type PrefixDeletion struct {
	ID          string
	Kind        ChangeKind
	Prefix      string // "" means all
	Index       uint64 // the log index of the deletion
	DeletedAt   int64  // Unix ms
	Removed     uint64 // values, checkpoints or threads whose rows have been removed
	CompletedAt int64  // Unix ms; 0 while rows are left to remove
}

func (*PrefixDeletion) isOpResult() {}
func (*PrefixDeletion) isFound()    {}

// Complete reports whether all rows have been removed.
func (d PrefixDeletion) Complete() bool { return d.CompletedAt != 0 }

// GetDeletion reads a receipt. A receipt is kept for DeletionTTL after it is complete, and
// a scope keeps at most DeletionsKeptMax: the oldest complete one goes first. Without a
// receipt the read is not_found.
type GetDeletion struct{ ID string }

// ListDeletions lists the receipts of a scope, the oldest first.
type ListDeletions struct{ Page }

func (*GetDeletion) isRead()   {}
func (*ListDeletions) isRead() {}

// DeletionList is a page of receipts.
type DeletionList struct {
	Items []PrefixDeletion
	Next  string // the After of the next page; "" means none
}

func (*DeletionList) isFound() {}

// The first and the longest interval at which AwaitDeletion polls.
const (
	deletionLookFirst = 2 * time.Millisecond
	deletionLookMost  = time.Second
)

// AwaitDeletion waits until a deletion is complete. It calls look for the current
// receipt, at growing intervals, until one is complete, look fails, or ctx ends. It
// returns the last receipt also with an error: the deletion has taken effect in any
// case, and only the progress of the removal is unknown.
func AwaitDeletion(ctx context.Context, receipt *PrefixDeletion, look func(context.Context) (*PrefixDeletion, error)) (*PrefixDeletion, error) {
	for polls := retry.New(deletionLookFirst, deletionLookMost); !receipt.Complete(); {
		if !polls.Wait(ctx) {
			return receipt, Errorf(CodeUnavailable, "deletion %q has taken effect, but not all rows were removed in time: read its receipt to see when they are", receipt.ID)
		}
		now, err := look(ctx)
		if err != nil {
			return receipt, err
		}
		receipt = now
	}
	return receipt, nil
}

func (o *DeletePrefix) validateOp(t *tally) error {
	t.bytes += len(o.Prefix)
	switch {
	case o.Prefix == "" && !o.All:
		return Invalid("prefix", "prefix is empty: give one, or set all to delete all %s of the scope", o.Kind)
	case o.Prefix != "" && o.All:
		return Invalid("all", "all excludes a prefix: give one or the other")
	}
	return firstOf(validWord("kind", o.Kind, ChangedValue, ChangedCheckpoint, ChangedThread), validPart("prefix", o.Prefix))
}
