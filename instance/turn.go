package instance

import (
	"bytes"
	"context"

	"dormouse/agent"
)

// Turn is one signal of an instance, and the changes that its handler requests.
// All of them apply after the handler has returned, or none. Only the handler
// may use a Turn, while Handle runs.
type Turn struct {
	runner   *runner
	instance *instance
	signal   agent.Signal
	rev      uint64
	revision uint64
	kind     agent.HandlerKind
	name     string // of the signal, for an HTTP handler; "" for others
	run      string // of the instance; "" for the handlers of the host's own

	state     agent.JSON
	changed   bool // the state differs from the one before the turn
	durable   bool // it is stored before its reply, whatever its manager's durability
	entries   []agent.Draft
	ops       []agent.Op
	reply     agent.JSON
	makeReply func(rev, revision uint64) agent.JSON // makes the reply from the resulting versions; nil if reply is set

	cronPatches   []*agent.PatchCron // changes of the manifest, in order
	manifest      agent.JSON         // the manifest with these changes
	cronRevisions int                // number of changes that add a revision
}

func newTurn(rn *runner, i *instance, s agent.Signal, kind agent.HandlerKind) *Turn {
	t := &Turn{
		runner: rn, instance: i, signal: s, rev: i.rev(), revision: i.stored.revision, kind: kind, state: i.body.state,
	}
	if i.body.extra != nil {
		t.manifest = i.body.extra.cron
	}
	return t
}

// Ref returns the instance's reference.
func (t *Turn) Ref() agent.InstanceRef { return t.instance.ref() }

// Type returns the signal's type.
func (t *Turn) Type() string { return t.signal.Type }

// Data returns the signal's data, an object.
func (t *Turn) Data() agent.JSON {
	if t.signal.Data == nil {
		return agent.JSON("{}")
	}
	return t.signal.Data
}

// Request returns the signal's request id, which all attempts share; zero if it
// has none.
func (t *Turn) Request() agent.Request { return t.signal.Request }

// Rev returns the thread's rev before the turn.
func (t *Turn) Rev() uint64 { return t.rev }

// Revision returns the checkpoint's revision before the turn; 0 if there is no
// checkpoint.
func (t *Turn) Revision() uint64 { return t.revision }

// Run returns the id of the instance's current run, unique over all nodes. A
// run ends when the instance leaves its node's memory: after a hibernation, a
// move, or a crash of the node. A turn that is not applied does not end it, nor
// does a hibernation while calls wait.
func (t *Turn) Run() string { return t.run }

// State returns the instance's state, including changes of this turn. The
// caller must not change it.
func (t *Turn) State() agent.JSON { return t.state }

// SetState sets the state, an object.
func (t *Turn) SetState(state agent.JSON) error {
	compact, err := agent.CompactObject("state", state)
	if err != nil {
		return err
	}
	if compact, _, err = agent.SplitCron(compact); err != nil { // handlers cannot set the manifest
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

// Patch merges a JSON merge patch (RFC 7396) into the state.
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

// Durable makes the host store the turn before it replies, even under
// DurabilityIdle. It fails for a manager that stores nothing.
func (t *Turn) Durable() { t.durable = true }

// Append appends entries to the instance's thread.
func (t *Turn) Append(entries ...agent.Draft) { t.entries = append(t.entries, entries...) }

// Commit adds ops to the turn's commit, such as memories, values and timers.
// Ops on the instance's own checkpoint and thread are refused.
func (t *Turn) Commit(ops ...agent.Op) { t.ops = append(t.ops, ops...) }

// Reply sets the reply to the signal, an object. In a turn that writes, it is
// limited to agent.SignalReplyBytesMax.
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

// Read answers reads in the instance's scope; see agent.Service. It does not
// return entries that are not stored yet.
func (t *Turn) Read(ctx context.Context, reads ...agent.Read) ([]agent.Answer, error) {
	answers, err := t.Reads(ctx, reads...)
	return answers.Answers, err
}

// Reads is Read with the index of the answers.
func (t *Turn) Reads(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
	_, service, _ := t.runner.table.managerConfig(t.instance.manager)
	if service == nil {
		return agent.Answers{}, agent.Errorf(agent.CodeInvalid, "manager %q stores nothing, so there is nothing to read", t.instance.manager.name)
	}
	return service.Read(ctx, agent.Reads{Scope: t.instance.manager.scope, Reads: reads})
}

// hasWrites reports whether the turn changes anything.
func (t *Turn) hasWrites() bool {
	return t.changed || len(t.entries) > 0 || len(t.ops) > 0 || len(t.cronPatches) > 0 || t.signal.Ack != nil
}

// buildReply makes the reply from the versions after the turn.
func (t *Turn) buildReply(rev, revision uint64) {
	if t.makeReply != nil {
		t.reply, t.makeReply = t.makeReply(rev, revision), nil
	}
}

// rejectChange returns the error of a turn with an invalid change. With the
// document handler the signal's data is invalid, and the error is unchanged;
// otherwise the handler has failed.
func (t *Turn) rejectChange(err error) error {
	if t.kind == agent.HandlerDocument {
		return err
	}
	t.runner.resetHandler(t.instance)
	reason := "invalid_change"
	if isCode(err, agent.CodeTooLarge) {
		reason = "too_large"
	}
	return failed(reason, "the handler requested an invalid change: %v", err)
}

// checkOps refuses ops that a handler must not commit.
func (t *Turn) checkOps() error {
	id := t.instance.ref().Checkpoint()
	for _, op := range t.ops {
		if key, own := writtenKey(op); own && key == id || forbidden(op) {
			return t.rejectChange(agent.Errorf(agent.CodeInvalid, "a handler cannot commit a %T on its own instance", op))
		}
	}
	return nil
}

// writtenKey returns the checkpoint or thread that an op writes.
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

// forbidden reports whether an op is not allowed in any turn.
func forbidden(op agent.Op) bool {
	switch op.(type) {
	case *agent.DeleteScope, *agent.AnswerSignal, *agent.AckTimer:
		return true
	default:
		return false
	}
}
