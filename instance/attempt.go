package instance

import (
	"context"
	"errors"
	"sync/atomic"

	"dormouse/agent"
)

// runner wakes instances and runs their turns, with local, remote and HTTP
// handlers.
type runner struct {
	*shared
	table        *table
	store        *store
	hungHandlers atomic.Int64 // handler calls that do not return
}

// rerunsMax is how often a handler runs again for one signal because another
// client wrote to its instance.
const rerunsMax = 3

// runTurn handles one signal.
func (rn *runner) runTurn(i *instance, s agent.Signal) (agent.Reply, error) {
	name := "" // of the signal, for an HTTP handler: equal in all attempts
	for try := 0; ; try++ {
		manager, _, err := rn.wake(i, nil)
		if err != nil {
			return agent.Reply{}, err
		}
		request, known, err := rn.store.findReply(i, s)
		if err != nil || known != nil {
			return deref(known), err
		}
		if name == "" && manager.Handler.Kind == agent.HandlerHTTP {
			name = rn.nameOf(i, s)
		}
		reply, err := rn.attemptTurn(i, manager, s, request, name)
		var stale *staleError
		if !errors.As(err, &stale) {
			if err != nil {
				rn.trackFailed(i, manager, s, err)
			}
			return reply, err
		}
		// The state that the handler saw is outdated, and nothing was applied.
		rn.store.invalidate(i, agent.ReasonChanged)
		if try == rerunsMax {
			return agent.Reply{}, stale.refusal
		}
	}
}

// nameOf returns the id of a signal for HTTP handlers: that of its request, or a new one.
func (rn *runner) nameOf(i *instance, s agent.Signal) string {
	if s.Request.Client == "" {
		return signalID(rn.store.newRequestID(i))
	}
	return signalID(s.Request)
}

// staleError reports that a turn was refused because another client wrote to
// the instance's checkpoint or thread.
type staleError struct{ refusal error }

func (e *staleError) Error() string { return e.refusal.Error() }

// attemptTurn runs the handler and stores the changes that it asks for. name is the signal's id for an
// HTTP handler.
func (rn *runner) attemptTurn(i *instance, manager agent.Manager, s agent.Signal, request agent.Request, name string) (agent.Reply, error) {
	ctx, cancel, err := rn.store.workContext(i, manager.SignalTimeout())
	if err != nil {
		return agent.Reply{}, err
	}
	defer cancel()
	t := newTurn(rn, i, s, manager.Handler.Kind)
	t.name = name
	if s.Type == agent.SignalCron {
		err = t.PatchCron(t.Data()) // no handler sees a change of jobs
	} else {
		err = rn.callHandler(ctx, i, manager, t)
	}
	if err != nil {
		return agent.Reply{}, err
	}
	if err := t.checkOps(); err != nil {
		return agent.Reply{}, err
	}
	rn.mu.Lock()
	rn.table.count(i.manager, func(t *counters) { t.signals++ })
	rn.mu.Unlock()
	if i.body.extra != nil {
		i.body.extra.crashes = 0
	}
	return rn.finishTurn(i, manager, t, request)
}

// finishTurn applies a turn's changes to the instance, and stores them as its
// manager's durability requires.
func (rn *runner) finishTurn(i *instance, manager agent.Manager, t *Turn, request agent.Request) (agent.Reply, error) {
	if i.tracked(manager) {
		t.entries = append(append([]agent.Draft{startEntry(t.signal)}, t.entries...), endEntry(t.signal, nil))
	}
	service := i.body.service
	must := t.durable || len(t.ops) > 0 || len(t.cronPatches) > 0 || t.signal.Ack != nil
	now := manager.Durability == agent.DurabilityTurn || must
	switch {
	case service == nil && must:
		rn.resetHandler(i)
		return agent.Reply{}, failed("invalid_change", "manager %q stores nothing, so its turns cannot write", manager.Name)
	case service != nil && now && t.hasWrites():
		return rn.commitTurn(i, t, request)
	case service != nil && now && i.hasUnsaved(): // from when the durability was idle
		if err := rn.store.save(i, lifecycleTurn); err != nil {
			rn.resetHandler(i)
			return agent.Reply{}, err
		}
		return rn.reply(i, t, true), nil
	case service != nil && now:
		err := rn.store.withTimeout(i, func(ctx context.Context) error { return rn.store.confirmOwnership(ctx, i, service) })
		if err != nil {
			rn.resetHandler(i)
			return agent.Reply{}, err
		}
		return rn.reply(i, t, true), nil
	default:
		return rn.keepInMemory(i, service, t)
	}
}

// commitTurn commits a turn with its reply, and all earlier changes that are
// not stored yet. If one commit cannot hold both, it saves the earlier changes
// first.
func (rn *runner) commitTurn(i *instance, t *Turn, request agent.Request) (agent.Reply, error) {
	own, makeReply := request, t.makeReply
	entries := t.entries
	if r := i.body.extra; r != nil && len(r.pending) > 0 {
		entries = append(r.pending[:len(r.pending):len(r.pending)], entries...)
	}
	var ops []agent.Op
	if len(entries) > 0 || t.changed || i.dirty() {
		var err error
		if ops, err = rn.store.saveOps(i, entries, t.state, lifecycleTurn); err != nil {
			return agent.Reply{}, err
		}
	}
	t.buildReply(i.stored.rev+uint64(len(entries)), i.stored.revision+uint64(min(len(ops), 1)+t.cronRevisions))
	if len(ops) == 0 {
		ops = append(ops, i.checkOp())
	}
	if t.signal.Ack != nil { // before the jobs and the handler's ops, which may set or cancel the same timer
		ops = append(ops, t.signal.Ack)
	}
	for _, job := range t.cronPatches {
		ops = append(ops, job)
	}
	ops = append(ops, t.ops...)
	if t.signal.Request.Client != "" {
		ops = append(ops, &agent.AnswerSignal{Hash: t.signal.Hash(i.ref()), Reply: t.reply})
	} else {
		request = rn.store.newRequestID(i)
	}
	commit := agent.Commit{Scope: i.manager.scope, Request: request, Ops: ops}
	if err := commit.Validate(); isCode(err, agent.CodeTooLarge) && len(entries) > len(t.entries) {
		if err := rn.saveBeforeTurn(i); err != nil {
			return agent.Reply{}, err
		}
		t.makeReply = makeReply
		return rn.commitTurn(i, t, own)
	} else if err != nil {
		return agent.Reply{}, t.rejectChange(err)
	}
	service := i.body.service
	result, err := rn.store.commitFenced(i, service, commit)
	if err != nil {
		return agent.Reply{}, rn.turnRefused(i, err, ops)
	}
	i.body.state = t.state
	rn.store.markSaved(i, result)
	i.keepManifest(t)
	return rn.reply(i, t, true), nil
}

// checkOp returns the op that checks that no other client has written to the checkpoint, for a
// turn that does not write its state: the handler has seen that state. A patch that changes
// nothing makes no revision.
func (i *instance) checkOp() *agent.PatchCron {
	revision := i.stored.revision
	return &agent.PatchCron{
		Key: i.ref().Checkpoint(), Specs: agent.JSON("{}"), IfRevision: &revision, IfIncarnation: i.stored.incarnation,
	}
}

// saveBeforeTurn stores the changes of earlier turns. Its error is a staleError
// if the turn must run again.
func (rn *runner) saveBeforeTurn(i *instance) error {
	err := rn.store.save(i, lifecycleTurn)
	if err == nil {
		return nil
	}
	rn.resetHandler(i)
	if agent.OutcomeOf(err) == agent.Refused && mustReload(err) {
		return &staleError{refusal: err}
	}
	return err
}

// turnRefused restores the instance after its turn's commit, with these ops,
// failed. It returns the error for the caller, or a staleError if the turn must
// run again.
func (rn *runner) turnRefused(i *instance, err error, ops []agent.Op) error {
	if isCode(err, agent.CodeUnavailable, agent.CodeNotOwner) {
		rn.resetHandler(i)
		return err
	}
	var e *agent.Error
	if errors.As(err, &e) && agent.OutcomeOf(e) == agent.Refused {
		switch e.Code {
		case agent.CodeConflict, agent.CodeRevisionMismatch, agent.CodeDeleted, agent.CodeMissingThread:
			if i.isOwnOp(ops, e.Op) {
				return &staleError{refusal: err}
			}
		case agent.CodeThreadMismatch: // the rev matched, but the thread is shorter than expected
			if i.isOwnOp(ops, e.Op) {
				err = duplicateEntry()
			}
		default:
		}
		rn.resetHandler(i)
		return err
	}
	rn.store.invalidate(i, agent.ReasonChanged) // the stored state is unknown
	return err
}

// isOwnOp reports whether the nth op of a turn writes the instance's checkpoint
// or thread. The host makes these ops; handlers cannot.
func (i *instance) isOwnOp(ops []agent.Op, n int) bool {
	if n < 0 || n >= len(ops) {
		return false
	}
	key, ok := writtenKey(ops[n])
	return ok && key == i.ref().Checkpoint()
}

// reply returns the reply to a finished turn.
func (rn *runner) reply(i *instance, t *Turn, durable bool) agent.Reply {
	rev := i.rev()
	t.buildReply(rev, i.stored.revision)
	return agent.Reply{
		Node: rn.o.Node, Epoch: i.epoch, Rev: rev, Revision: i.stored.revision, Durable: durable, Data: t.reply,
	}
}

// rev returns the thread's rev, including entries that are not stored yet.
func (i *instance) rev() uint64 {
	if r := i.body.extra; r != nil {
		return i.stored.rev + uint64(len(r.pending))
	}
	return i.stored.rev
}

func deref(r *agent.Reply) agent.Reply {
	if r == nil {
		return agent.Reply{}
	}
	return *r
}
