package instance

import (
	"bytes"
	"context"

	"dormouse/agent"
)

// Turn is one signal of an instance, and what its handler wants of it. Nothing
// is done before the handler has returned, and then all of it or nothing. A
// Turn is its handler's alone, for as long as Handle runs.
type Turn struct {
	host     *Host
	instance *instance
	signal   agent.Signal
	rev      uint64
	revision uint64
	kind     agent.HandlerKind

	state     agent.JSON
	changed   bool // the state is another one than before
	durable   bool // it is stored before its reply, whatever its manager says
	entries   []agent.Draft
	ops       []agent.Op
	reply     agent.JSON
	makeReply func(rev, revision uint64) agent.JSON // instead of reply, once these are known

	cronPatches   []*agent.PatchCron // what the turn changes in the manifest, in order
	manifest      agent.JSON         // …and what that comes to
	cronRevisions int                // …and how many of jobs change anything: a revision each
}

func newTurn(h *Host, i *instance, s agent.Signal, kind agent.HandlerKind) *Turn {
	t := &Turn{
		host: h, instance: i, signal: s, rev: i.rev(), revision: i.stored.revision, kind: kind, state: i.body.state,
	}
	if i.body.extra != nil {
		t.manifest = i.body.extra.cron
	}
	return t
}

// Ref names the instance.
func (t *Turn) Ref() agent.InstanceRef { return t.instance.ref() }

// Type is the signal's.
func (t *Turn) Type() string { return t.signal.Type }

// Data is the signal's, an object.
func (t *Turn) Data() agent.JSON {
	if t.signal.Data == nil {
		return agent.JSON("{}")
	}
	return t.signal.Data
}

// Request is the signal's request id, the same each time it is sent; zero where
// it has none.
func (t *Turn) Request() agent.Request { return t.signal.Request }

// Rev is the thread's rev before the turn.
func (t *Turn) Rev() uint64 { return t.rev }

// Revision is the checkpoint's before the turn; 0 where there is none yet.
func (t *Turn) Revision() uint64 { return t.revision }

// Run tells this awakening of the instance from all others, on whatever node. A
// turn that is not applied does not end it.
func (t *Turn) Run() string { return t.host.runOf(t.instance) }

// State is the instance's state, as the handler has set it so far. It must not
// be written to.
func (t *Turn) State() agent.JSON { return t.state }

// SetState sets the state, an object.
func (t *Turn) SetState(state agent.JSON) error {
	compact, err := agent.CompactObject("state", state)
	if err != nil {
		return err
	}
	if compact, _, err = agent.SplitCron(compact); err != nil { // that is not the handler's
		return agent.Invalid("state", "%v", err)
	}
	if len(compact) > agent.CheckpointBytesMax {
		return agent.TooLarge("state", "checkpoint_bytes_max", len(compact), agent.CheckpointBytesMax)
	}
	if !bytes.Equal(compact, t.state) {
		t.state, t.changed = compact, true
	}
	return nil
}

// Patch merges a patch into the state (RFC 7396).
func (t *Turn) Patch(patch agent.JSON) error {
	compact, err := agent.CompactObject("patch", patch)
	if err != nil {
		return err
	}
	state, err := agent.MergePatch(t.state, compact)
	if err != nil {
		return err
	}
	return t.SetState(state)
}

// Durable has the turn stored before its reply, where its manager's durability
// is idle too. A manager that stores nothing refuses it.
func (t *Turn) Durable() { t.durable = true }

// Append adds entries to the instance's thread.
func (t *Turn) Append(entries ...agent.Draft) { t.entries = append(t.entries, entries...) }

// Commit adds any ops to the turn's commit, such as memories, values and timers.
// The instance's own checkpoint and thread are not theirs to write.
func (t *Turn) Commit(ops ...agent.Op) { t.ops = append(t.ops, ops...) }

// Reply sets what is answered to the signal, an object. With a turn that writes
// anything it is at most agent.SignalReplyBytesMax long.
func (t *Turn) Reply(reply agent.JSON) error {
	compact, err := agent.CompactObject("reply", reply)
	if err != nil {
		return err
	}
	if len(compact) > agent.CheckpointBytesMax {
		return agent.TooLarge("reply", "checkpoint_bytes_max", len(compact), agent.CheckpointBytesMax)
	}
	t.reply = compact
	return nil
}

// Read answers reads in the instance's scope, such as the last entries of its
// thread; see agent.Service. Entries that are not stored yet are not there.
func (t *Turn) Read(ctx context.Context, reads ...agent.Read) ([]agent.Answer, error) {
	answers, err := t.Reads(ctx, reads...)
	return answers.Answers, err
}

// Reads is Read, with the index that its answers are as of.
func (t *Turn) Reads(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
	_, service, _ := t.host.managerConfig(t.instance.manager)
	if service == nil {
		return agent.Answers{}, agent.Errorf(agent.CodeInvalid, "nothing of manager %q is stored, so there is nothing to read", t.instance.manager.name)
	}
	return service.Read(ctx, agent.Reads{Scope: t.instance.manager.scope, Reads: reads})
}

// hasWrites tells whether there is anything to store.
func (t *Turn) hasWrites() bool {
	return t.changed || len(t.entries) > 0 || len(t.ops) > 0 || len(t.cronPatches) > 0 || t.signal.Ack != nil
}

// buildReply fixes the reply, once it is known what the turn comes to.
func (t *Turn) buildReply(rev, revision uint64) {
	if t.makeReply != nil {
		t.reply, t.makeReply = t.makeReply(rev, revision), nil
	}
}

// rejectChange is the error of a turn whose changes cannot be stored. With the
// document handler they are the caller's own.
func (t *Turn) rejectChange(err error) error {
	if t.kind == agent.HandlerDocument {
		return err
	}
	t.host.resetHandler(t.instance)
	reason := "invalid_change"
	if isCode(err, agent.CodeTooLarge) {
		reason = "too_large"
	}
	return failed(reason, "the handler wants what cannot be stored: %v", err)
}

// checkOps refuses ops that are not the handler's to make.
func (t *Turn) checkOps() error {
	id := t.instance.ref().Checkpoint()
	for _, op := range t.ops {
		if whose, own := writtenKey(op); own && whose == id || forbidden(op) {
			return t.rejectChange(agent.Errorf(agent.CodeInvalid, "a %T on the instance itself is not its handler's to commit", op))
		}
	}
	return nil
}

// writtenKey is the checkpoint or thread that an op writes.
func writtenKey(op agent.Op) (key string, ok bool) {
	switch o := op.(type) {
	case *agent.PutCheckpoint:
		return o.Key, true
	case *agent.PatchCheckpoint:
		return o.Key, true
	case *agent.PatchCron:
		return o.Key, true
	case *agent.DeleteCheckpoint:
		return o.Key, true
	case *agent.AppendThread:
		return o.Thread, true
	case *agent.HibernateThread:
		return o.Thread, true
	case *agent.DeleteThread:
		return o.Thread, true
	default:
		return "", false
	}
}

// forbidden tells of ops that no turn has: they end what it stands on.
func forbidden(op agent.Op) bool {
	switch op.(type) {
	case *agent.DeleteScope, *agent.AnswerSignal, *agent.AckTimer:
		return true
	default:
		return false
	}
}
