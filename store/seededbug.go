package store

import (
	"slices"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// Code of seeded bugs that needs more than one line. It is only compiled with the build tag seeded.

// decideEarly checks conditions against this node's current state that only the log may check, for
// the bugs of that name.
func (s *Store) decideEarly(c *agent.Commit) error {
	view := s.o.Machine.View()
	defer view.Close()
	now := func(r agent.Read) agent.Answer { return view.Answer(c.Scope, r) }
	if f := c.Fence; f != nil && seededbug.Is(seededbug.FenceCheckedEarly) {
		held, ok := now(&agent.GetClaim{Claim: f.Claim}).Found.(*agent.Claim)
		if !ok || held.Epoch != f.Epoch {
			return &agent.Error{Code: agent.CodeFenced, Op: -1, Final: true, Detail: "decided early"}
		}
	}
	c.Ops = slices.Clone(c.Ops)
	for i, op := range c.Ops {
		switch op := op.(type) {
		case *agent.AppendThread:
			var rev uint64
			if t, ok := now(&agent.GetThread{Thread: op.Thread}).Found.(*agent.Thread); ok {
				rev = t.Rev
			}
			if want := op.ExpectedRev; seededbug.Is(seededbug.RevCheckedEarly) && want != nil && *want != rev {
				return &agent.Error{Code: agent.CodeConflict, Op: i, Rev: rev, Final: true, Detail: "decided early"}
			}
		case *agent.PutCheckpoint:
			var revision uint64
			if found, ok := now(&agent.GetCheckpoint{Key: op.Key}).Found.(*agent.Checkpoint); ok {
				revision = found.Revision
			}
			if want := op.IfRevision; seededbug.Is(seededbug.RevisionCheckedEarly) && want != nil && *want != revision {
				return &agent.Error{Code: agent.CodeRevisionMismatch, Op: i, Revision: revision, Final: true, Detail: "decided early"}
			}
		case *agent.PatchCheckpoint:
			found, ok := now(&agent.GetCheckpoint{Key: op.Key}).Found.(*agent.Checkpoint)
			if !ok || !seededbug.Is(seededbug.PatchedEarly) {
				continue
			}
			state, err := agent.MergePatch(found.State, op.Patch)
			if err != nil {
				continue
			}
			c.Ops[i] = &agent.PutCheckpoint{
				Key: op.Key, Version: found.Version, State: state, Thread: found.Thread, Lifecycle: found.Lifecycle,
				Metadata: found.Metadata, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
			}
		}
	}
	return nil
}
