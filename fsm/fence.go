package fsm

import (
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/claim"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// fenced refuses a commit whose fence does not match the current holder and epoch at this entry.
func (b *batch) fenced(scope string, fence *logpb.Fence) error {
	if fence == nil || seededbug.Is(seededbug.NoFenceCheck) || seededbug.Is(seededbug.FenceCheckedEarly) {
		return nil
	}
	if b.shared {
		b.counted.SharedFences++
	}
	if err := agent.ValidKey("fence.claim", fence.Claim); err != nil {
		return err
	}
	if n, ok := layout.ClaimedPartition(fence.Claim); ok {
		if err := b.fencedPartition(n, fence.Epoch); err != nil {
			return err
		}
		return erasedSince(b.Entry, scope, fence)
	}
	if seededbug.Is(seededbug.FenceCheckedOnce) && checkedBefore(b.Progress.Index, scope, fence) {
		return nil
	}
	row, err := claim.LoadStanding(b.Entry, scope, fence.Claim)
	if err != nil {
		return err
	}
	if row != nil {
		if gone, err := txn.LeaseGone(b.Rows, scope, fence.Claim, b.Progress.Wall); err != nil {
			return err
		} else if gone {
			row = nil
		}
	}
	if row == nil || row.Epoch != fence.Epoch {
		return claim.FencedRefusal(fence.Claim, fence.Epoch, row)
	}
	if seededbug.Is(seededbug.FenceCheckedOnce) {
		checked(b.Progress.Index, scope, fence)
	}
	return erasedSince(b.Entry, scope, fence)
}

// erasedSince refuses a commit on behalf of an agent that was erased, or whose scope was deleted,
// after the index at which its sender loaded the agent.
func erasedSince(b *txn.Entry, scope string, fence *logpb.Fence) error {
	if fence.Agent == "" {
		return nil
	}
	if err := agent.ValidKey("fence.agent", fence.Agent); err != nil {
		return err
	}
	if gone, err := scopeGone(b, scope); err != nil {
		return err
	} else if gone > fence.Since {
		e := agent.Errorf(agent.CodeDeleted, "scope %q was deleted at index %d, after this turn of agent %q began", scope, gone, fence.Agent)
		e.Reason = agent.ReasonErased
		return e
	}
	row, err := txn.LoadErasure((&txn.Tx{Entry: b, Scope: scope}), fence.Agent)
	if err != nil || row.GetErasedIndex() <= fence.Since {
		return err
	}
	e := agent.Errorf(agent.CodeDeleted, "agent %q was erased at index %d, after this turn of it began: send the signal again to start a new one", fence.Agent, row.ErasedIndex)
	e.Reason, e.Incarnation = agent.ReasonErased, row.Incarnation
	return e
}

// scopeGone returns the index at which a scope was last deleted, or replaced by an import. It
// returns 0 if that never happened, or if the record of it has expired.
func scopeGone(b *txn.Entry, scope string) (uint64, error) {
	if b.Level < txn.EndingLevel {
		return 0, nil
	}
	for _, told := range b.Changes { // changes of this entry, which are not in the feed yet
		if told.Scope == scope && told.Change == nil {
			return b.Progress.Index, nil
		}
	}
	feed, err := txn.ReadFeed(b.Rows, scope)
	return feed.GetGone(), err
}
