package instance

import (
	"context"
	"errors"

	"dormouse/agent"
)

// rerunsMax is how often a handler is asked anew because somebody else had
// written to its instance.
const rerunsMax = 3

// runTurn handles one signal.
func (h *Host) runTurn(i *instance, s agent.Signal) (agent.Reply, error) {
	for try := 0; ; try++ {
		manager, _, err := h.wake(i, nil)
		if err != nil {
			return agent.Reply{}, err
		}
		request, known, err := h.findReply(i, s)
		if err != nil || known != nil {
			return deref(known), err
		}
		reply, err := h.attemptTurn(i, manager, s, request)
		var stale *staleError
		if !errors.As(err, &stale) {
			if err != nil {
				h.trackFailed(i, manager, s, err)
			}
			return reply, err
		}
		// What the handler was told is not so any more, and nothing was applied.
		h.invalidate(i, agent.ReasonChanged)
		if try == rerunsMax {
			return agent.Reply{}, stale.refusal
		}
	}
}

// staleError says that a turn was refused since the instance is not as its node
// took it to be: somebody wrote to its checkpoint or its thread.
type staleError struct{ refusal error }

func (e *staleError) Error() string { return e.refusal.Error() }

// attemptTurn runs the handler, and stores what it wants.
func (h *Host) attemptTurn(i *instance, manager agent.Manager, s agent.Signal, request agent.Request) (agent.Reply, error) {
	ctx, cancel, err := h.workContext(i, manager.SignalTimeout())
	if err != nil {
		return agent.Reply{}, err
	}
	defer cancel()
	t := newTurn(h, i, s, manager.Handler.Kind)
	if s.Type == agent.SignalCron {
		err = t.PatchCron(t.Data()) // a turn of its own, which no handler sees
	} else {
		err = h.callHandler(ctx, i, manager, t)
	}
	if err != nil {
		return agent.Reply{}, err
	}
	if err := t.checkOps(); err != nil {
		return agent.Reply{}, err
	}
	h.mu.Lock()
	h.count(i.manager, func(t *counters) { t.signals++ })
	h.mu.Unlock()
	if i.body.extra != nil {
		i.body.extra.crashes = 0
	}
	return h.finishTurn(i, manager, t, request)
}

// finishTurn makes a turn's changes the instance's, stored as its manager says.
func (h *Host) finishTurn(i *instance, manager agent.Manager, t *Turn, request agent.Request) (agent.Reply, error) {
	if i.tracked(manager) {
		t.entries = append(append([]agent.Draft{startEntry(t.signal)}, t.entries...), endEntry(t.signal, nil))
	}
	service := i.body.service
	must := t.durable || len(t.ops) > 0 || len(t.cronPatches) > 0 || t.signal.Ack != nil
	now := manager.Durability == agent.DurabilityTurn || must
	switch {
	case service == nil && must:
		return agent.Reply{}, failed("invalid_change", "nothing of manager %q is stored, so its turns cannot write", manager.Name)
	case service != nil && now && t.hasWrites():
		return h.commitTurn(i, t, request)
	case service != nil && now:
		err := h.withTimeout(i, func(ctx context.Context) error { return h.confirmOwnership(ctx, i, service) })
		if err != nil {
			return agent.Reply{}, err
		}
		return h.reply(i, t, true), nil
	default:
		return h.keepInMemory(i, service, t)
	}
}

// commitTurn stores a turn with its answer, and all that was not stored yet.
func (h *Host) commitTurn(i *instance, t *Turn, request agent.Request) (agent.Reply, error) {
	entries := t.entries
	if r := i.body.extra; r != nil && len(r.pending) > 0 {
		entries = append(r.pending[:len(r.pending):len(r.pending)], entries...)
	}
	var ops []agent.Op
	if len(entries) > 0 || t.changed || i.dirty() {
		var err error
		if ops, err = h.saveOps(i, entries, t.state, lifecycleTurn); err != nil {
			return agent.Reply{}, err
		}
	}
	t.buildReply(i.stored.rev+uint64(len(entries)), i.stored.revision+uint64(min(len(ops), 1)+t.cronRevisions))
	if len(ops) == 0 && len(t.cronPatches) > 0 {
		t.cronPatches[0].IfRevision, t.cronPatches[0].IfIncarnation = &i.stored.revision, i.stored.incarnation
	}
	if t.signal.Ack != nil { // before the jobs and the handler's ops, which may put that timer anew, or cancel it
		ops = append(ops, t.signal.Ack)
	}
	for _, job := range t.cronPatches {
		ops = append(ops, job)
	}
	ops = append(ops, t.ops...)
	if t.signal.Request.Client != "" {
		ops = append(ops, &agent.AnswerSignal{Hash: t.signal.Hash(i.ref()), Reply: t.reply})
	} else {
		request = h.newRequestID(i)
	}
	commit := agent.Commit{Scope: i.manager.scope, Request: request, Ops: ops}
	if err := commit.Validate(); err != nil {
		return agent.Reply{}, t.rejectChange(err)
	}
	service := i.body.service
	result, err := h.commitFenced(i, service, commit)
	if err != nil {
		return agent.Reply{}, h.turnRefused(i, err, ops)
	}
	i.body.state = t.state
	h.markSaved(i, result)
	i.keepManifest(t)
	return h.reply(i, t, true), nil
}

// turnRefused is what becomes of a turn that was not stored, with its ops.
func (h *Host) turnRefused(i *instance, err error, ops []agent.Op) error {
	if isCode(err, agent.CodeUnavailable, agent.CodeNotOwner) {
		h.resetHandler(i)
		return err
	}
	var e *agent.Error
	if errors.As(err, &e) && agent.OutcomeOf(e) == agent.Refused {
		switch e.Code {
		case agent.CodeConflict, agent.CodeRevisionMismatch, agent.CodeDeleted, agent.CodeMissingThread:
			if i.isOwnOp(ops, e.Op) {
				return &staleError{refusal: err}
			}
		case agent.CodeThreadMismatch: // its rev was right, and yet it is shorter than it should be
			if i.isOwnOp(ops, e.Op) {
				err = agent.Errorf(agent.CodeDuplicateEntry, "an entry of the turn is in the thread already, under its id")
			}
		default:
		}
		h.resetHandler(i)
		return err
	}
	h.invalidate(i, agent.ReasonChanged) // nobody knows what the store has
	return err
}

// isOwnOp tells whether the nth op of a turn is about the instance, and so the
// host's own: none of its handler's is.
func (i *instance) isOwnOp(ops []agent.Op, n int) bool {
	if n < 0 || n >= len(ops) {
		return false
	}
	key, ok := writtenKey(ops[n])
	return ok && key == i.ref().Checkpoint()
}

// reply is the answer to a turn that is concluded.
func (h *Host) reply(i *instance, t *Turn, durable bool) agent.Reply {
	rev := i.rev()
	t.buildReply(rev, i.stored.revision)
	return agent.Reply{
		Node: h.o.Node, Epoch: i.epoch, Rev: rev, Revision: i.stored.revision, Durable: durable, Data: t.reply,
	}
}

// rev is the thread's, with what is not stored yet.
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
