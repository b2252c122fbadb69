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

// lifecycle is the reason why a checkpoint was saved.
type lifecycle string

const (
	lifecycleTurn     lifecycle = "completion"
	lifecycleIdle     lifecycle = "idle"
	lifecycleManual   lifecycle = "manual"
	lifecycleShutdown lifecycle = "shutdown" // of the node, or of the partition
)

// checkpointOp returns the op that stores the instance's state. rev is the
// thread's rev when the op applies.
func (i *instance) checkpointOp(skips, state agent.JSON, rev uint64, why lifecycle) (*agent.PutCheckpoint, error) {
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

// appendOp returns the op that appends entries to the instance's thread.
func (i *instance) appendOp(entries []agent.Draft) *agent.AppendThread {
	rev := i.stored.rev
	return &agent.AppendThread{
		Thread: i.ref().Checkpoint(), Entries: entries, ExpectedRev: &rev, IfIncarnation: i.stored.threadIncarnation,
	}
}

// save stores all changes that are not stored yet.
func (st *store) save(i *instance, why lifecycle) error {
	service := i.body.service
	if service == nil {
		return nil
	}
	var pending []agent.Draft
	if i.body.extra != nil {
		pending = i.body.extra.pending
	}
	ops, err := st.saveOps(i, pending, i.body.state, why)
	if err != nil {
		return err
	}
	result, err := st.commitFenced(i, service, agent.Commit{Ops: ops, Request: st.newRequestID(i)})
	if err != nil {
		st.reloadAfter(i, err)
		return err
	}
	st.markSaved(i, result)
	return nil
}

// reloadAfter discards the instance's state in memory after a failed commit of its own if it must be
// read again.
func (st *store) reloadAfter(i *instance, err error) {
	var full *fullError // the changes stay in memory, and are saved once there is room
	if mustReload(err) && !errors.As(err, &full) {
		st.invalidate(i, agent.ReasonChanged)
	}
}

// mustReload reports whether the instance must be read again after a failed
// save, because another client wrote to it or the outcome is unknown. After
// other refusals the state stays in memory and is saved later.
func mustReload(err error) bool {
	return agent.OutcomeOf(err) != agent.Refused || isCode(err, agent.CodeConflict, agent.CodeRevisionMismatch,
		agent.CodeDeleted, agent.CodeMissingThread, agent.CodeThreadMismatch, agent.CodeDuplicateEntry)
}

// saveOps returns the ops that append entries and then store a state.
func (st *store) saveOps(i *instance, entries []agent.Draft, state agent.JSON, why lifecycle) ([]agent.Op, error) {
	var ops []agent.Op
	if len(entries) > 0 {
		ops = append(ops, i.appendOp(entries))
	}
	st.mu.Lock()
	skips := i.manager.skipPatch
	st.mu.Unlock()
	put, err := i.checkpointOp(skips, state, i.stored.rev+uint64(len(entries)), why)
	if err != nil {
		return nil, err
	}
	return append(ops, put), nil
}

// markSaved records a commit that stored all changes of the instance.
func (st *store) markSaved(i *instance, result agent.Result) {
	st.recordResult(i, result)
	i.body.initial = nil
	if r := i.body.extra; r != nil {
		r.dirty, r.pending, r.bytes = false, nil, 0
		for at := range r.recent {
			r.recent[at].lossy = false
		}
	}
}

// recordResult updates the instance's stored version from a commit's result.
func (st *store) recordResult(i *instance, result agent.Result) {
	next := i.stored
	// An erasure in the same log entry came after this commit: before it, it would have refused the commit.
	next.index, next.since = result.Index, result.Index-1
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
	st.mu.Lock()
	i.stored = next
	st.mu.Unlock()
}

// handleHibernate hibernates the instance for a call. The instance stays awake
// if it cannot be saved, or if it was used during a background hibernation.
func (mb *mailbox) handleHibernate(i *instance, c *call) error {
	var err error
	if i.body.awake {
		if err = mb.store.checkActive(i); err == nil && i.dirty() {
			err = mb.store.save(i, c.hibernate)
		}
	}
	mb.mu.Lock()
	defer mb.mu.Unlock()
	if err != nil && i.removed != nil {
		return err
	}
	if err != nil {
		mb.table.count(i.manager, func(t *counters) { t.failed++ })
		if c.background {
			idle := i.manager.config.IdleTimeout
			i.usedAt = mb.table.now() + min(idle, hibernateRetry) - idle
		}
		mb.o.Logger.Warn("an instance could not hibernate and stays awake", "instance", i.String(), "error", err)
		return err
	}
	switch {
	case i.removed != nil:
		return nil
	case c.background && (i.usedSince || len(i.mailbox) > 0 || len(i.attachments) > 0):
		return nil
	}
	mb.table.count(i.manager, func(t *counters) { t.hibernated++ })
	i.attachments = nil
	i.body = body{extra: i.keepRequestIDs()}
	i.status = agent.InstanceDormant
	mb.table.recount(i, string(c.hibernate))
	if len(i.mailbox) == 0 {
		mb.table.remove(i, errHibernated, "")
	}
	return nil
}

// keepRequestIDs returns the run's id and its last request, so that the instance
// uses no request id twice when it wakes for a waiting call.
func (i *instance) keepRequestIDs() *extra {
	if i.body.extra == nil {
		return nil
	}
	return &extra{run: i.body.extra.run, seq: i.body.extra.seq}
}

// hibernateRetry is the delay before a failed hibernation is retried.
const hibernateRetry = time.Second

// hibernateParallel is how many instances hibernateAll hibernates at once.
const hibernateParallel = 64

// hibernateAll hibernates instances and waits for them. It retries failed ones
// until ctx ends.
func (mb *mailbox) hibernateAll(ctx context.Context, all []*instance, why lifecycle) error {
	failures := make([]error, len(all))
	slots := make(chan struct{}, hibernateParallel)
	var sleepers sync.WaitGroup
	for n, i := range all {
		slots <- struct{}{}
		sleepers.Go(func() {
			failures[n] = mb.hibernateOne(ctx, i, why)
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

// hibernateOne hibernates an instance after the calls in its mailbox. If ctx
// ends first, it returns the last failure instead of the context's error.
func (mb *mailbox) hibernateOne(ctx context.Context, i *instance, why lifecycle) error {
	for last := error(nil); ; {
		c := newCall()
		c.hibernate, c.stop = why, true
		mb.mu.Lock()
		awake := i.removed == nil
		if awake {
			mb.enqueue(i, c)
		}
		mb.mu.Unlock()
		if !awake {
			return nil
		}
		err := mb.await(ctx, i, c).err
		if err != nil && ctx.Err() != nil && last != nil {
			return last
		}
		if err == nil || !agent.Retryable(err) {
			return err
		}
		last = err
		if !pause.For(ctx, hibernateRetry) {
			return err
		}
	}
}
