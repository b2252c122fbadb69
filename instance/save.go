package instance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// lifecycle says why a checkpoint was saved.
type lifecycle string

const (
	lifecycleTurn     lifecycle = "completion"
	lifecycleIdle     lifecycle = "idle"
	lifecycleManual   lifecycle = "manual"
	lifecycleShutdown lifecycle = "shutdown" // of the node, or of its owning
)

// checkpoint is the op that stores the instance's state; rev is its thread's
// when it applies.
func (i *instance) checkpoint(skips, state agent.JSON, rev uint64, why lifecycle) (*agent.PutCheckpoint, error) {
	if skips != nil {
		var err error
		if state, err = agent.MergePatch(state, skips); err != nil {
			return nil, agent.Errorf(agent.CodeInternal, "%v", err)
		}
	}
	state, err := i.withCron(state)
	if err != nil {
		return nil, err
	}
	key, revision := i.ref().Checkpoint(), i.stored.revision
	return &agent.PutCheckpoint{
		Key: key, Version: i.body.stateAt, State: state, Thread: &agent.Pointer{Thread: key, Rev: rev}, Metadata: i.body.metadata,
		Lifecycle: string(why), IfRevision: &revision, IfIncarnation: i.stored.incarnation,
	}, nil
}

// appending is the op that appends entries to the instance's thread.
func (i *instance) appending(entries []agent.Draft) *agent.AppendThread {
	rev := i.stored.rev
	return &agent.AppendThread{
		Thread: i.ref().Checkpoint(), Entries: entries, ExpectedRev: &rev, IfIncarnation: i.stored.threadIncarnation,
	}
}

// save stores what is not stored yet.
func (h *Host) save(i *instance, why lifecycle) error {
	service := i.body.service
	if service == nil {
		return nil
	}
	var pending []agent.Draft
	if i.body.rare != nil {
		pending = i.body.rare.pending
	}
	ops, err := h.storing(i, pending, i.body.state, why)
	if err != nil {
		return err
	}
	result, err := h.settle(i, service, agent.Commit{Ops: ops, Request: h.request(i)})
	if err != nil {
		if astray(err) {
			h.forget(i, agent.ReasonChanged)
		}
		return err
	}
	h.saved(i, result)
	return nil
}

// astray tells whether what is in memory does not follow from what the store
// has, after a save that failed: somebody else wrote, or nobody knows. What the
// store has counts then. After any other refusal it is saved later.
func astray(err error) bool {
	return agent.OutcomeOf(err) != agent.Refused || isCode(err, agent.CodeConflict, agent.CodeRevisionMismatch,
		agent.CodeDeleted, agent.CodeMissingThread, agent.CodeThreadMismatch, agent.CodeDuplicateEntry)
}

// storing is the ops that store a state and the entries before it.
func (h *Host) storing(i *instance, entries []agent.Draft, state agent.JSON, why lifecycle) ([]agent.Op, error) {
	var ops []agent.Op
	if len(entries) > 0 {
		ops = append(ops, i.appending(entries))
	}
	h.mu.Lock()
	skips := i.family.skips
	h.mu.Unlock()
	put, err := i.checkpoint(skips, state, i.stored.rev+uint64(len(entries)), why)
	if err != nil {
		return nil, err
	}
	return append(ops, put), nil
}

// saved notes that a commit has stored all that was not stored yet.
func (h *Host) saved(i *instance, result agent.Result) {
	h.wrote(i, result)
	if r := i.body.rare; r != nil {
		r.dirty, r.pending, r.bytes = false, nil, 0
	}
}

// wrote notes what the store has since a commit.
func (h *Host) wrote(i *instance, result agent.Result) {
	next := i.stored
	next.index = result.Index
	id := i.ref().Checkpoint()
	for _, r := range result.Results {
		switch r := r.(type) {
		case *agent.ThreadResult:
			if r.Thread.ID == id {
				next.rev, next.threadIncarnation = r.Thread.Rev, r.Thread.Incarnation
			}
		case *agent.CheckpointResult:
			if r.Key == id {
				next.revision, next.incarnation = r.Revision, r.Incarnation
			}
		}
	}
	h.mu.Lock()
	i.stored = next
	h.mu.Unlock()
}

// sleepLetter hibernates the instance as a letter says. It stays awake where it
// cannot be saved, or where nobody asked and somebody has come.
func (h *Host) sleepLetter(i *instance, l *letter) error {
	var err error
	if i.body.awake {
		if err = h.stands(i); err == nil && i.dirty() {
			err = h.save(i, l.sleep)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && i.gone != nil {
		return err
	}
	if err != nil {
		h.count(i.family, func(t *tally) { t.failed++ })
		if l.unasked {
			idle := i.family.manager.IdleTimeout
			i.usedAt = h.now() + min(idle, failRetry) - idle
		}
		h.o.Logger.Warn("an instance could not hibernate, and stays awake", "instance", i.String(), "error", err)
		return err
	}
	switch {
	case i.gone != nil:
		return nil
	case l.unasked && (i.wanted || len(i.mailbox) > 0 || len(i.attachments) > 0):
		return nil
	}
	h.count(i.family, func(t *tally) { t.hibernated++ })
	i.attachments = nil
	i.body = body{rare: i.ownRequests()}
	i.status = agent.InstanceDormant
	h.recount(i, string(l.sleep))
	if len(i.mailbox) == 0 {
		h.remove(i, errAsleep, "")
	}
	return nil
}

// ownRequests keeps the numbers of the host's own requests from being used again.
func (i *instance) ownRequests() *rare {
	if i.body.rare == nil {
		return nil
	}
	return &rare{client: i.body.rare.client, seq: i.body.rare.seq}
}

// failRetry is when a hibernation that failed is tried again.
const failRetry = time.Second

// sleepersMax is how many instances are put to sleep at once.
const sleepersMax = 64

// putToSleep hibernates instances and waits for them. One that cannot for now is
// tried again until ctx ends.
func (h *Host) putToSleep(ctx context.Context, all []*instance, why lifecycle) error {
	failures := make([]error, len(all))
	slots := make(chan struct{}, sleepersMax)
	var sleepers sync.WaitGroup
	for n, i := range all {
		slots <- struct{}{}
		sleepers.Go(func() {
			failures[n] = h.sleepOne(ctx, i, why)
			<-slots
		})
	}
	sleepers.Wait()
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failures) > 0 {
		return errors.Join(agent.Errorf(agent.CodeUnavailable, "%d of %d instances could not hibernate", len(failures), len(all)), failures[0])
	}
	return nil
}

// sleepOne hibernates an instance after what is in its mailbox. Where ctx ends
// first, the error is what failed until then, rather than that it ended.
func (h *Host) sleepOne(ctx context.Context, i *instance, why lifecycle) error {
	for last := error(nil); ; {
		l := newLetter()
		l.sleep, l.stop = why, true
		h.mu.Lock()
		awake := i.gone == nil
		if awake {
			h.put(i, l)
		}
		h.mu.Unlock()
		if !awake {
			return nil
		}
		err := h.await(ctx, i, l).err
		if err != nil && ctx.Err() != nil && last != nil {
			return last
		}
		if err == nil || !agent.Retryable(err) {
			return err
		}
		last = err
		if !pause.For(ctx, failRetry) {
			return err
		}
	}
}
