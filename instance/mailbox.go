package instance

import (
	"context"
	"fmt"

	"dormouse/agent"
)

// mailboxRetryMS is when to come back to a full mailbox.
const mailboxRetryMS = 100

// letter is what an instance is asked for, in the order in which it came.
type letter struct {
	signal  *agent.Signal        // one to handle
	start   *agent.StartInstance // what a fresh instance begins with
	attach  *agent.Attach
	sleep   lifecycle   // hibernate, for this reason
	stop    bool        // …and end, whoever is attached
	unasked bool        // …nobody waits for it, and it yields to whoever comes
	begun   bool        // it is out of the mailbox; guarded by Host.mu
	done    chan answer // of one
}

// answer is what came of a letter.
type answer struct {
	instance agent.Instance
	attached agent.Attached
	reply    agent.Reply
	err      error
}

func newLetter() *letter { return &letter{done: make(chan answer, 1)} }

// answer is called once.
func (l *letter) answer(a answer) { l.done <- a }

// post puts a letter into the mailbox of the instance, which is made where
// there is none and wake says so. direct, if given, is tried first, under mu:
// it answers at once where it can.
func (h *Host) post(ctx context.Context, ref agent.InstanceRef, l *letter, wake bool, direct func(*instance) bool) (*instance, error) {
	n := partitionOf(ref)
	if _, err := h.opens(n); err != nil {
		return nil, err
	}
	f, err := h.family(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, err := h.opens(n)
	if err == nil {
		_, err = h.lease()
	}
	if err == nil && h.closing {
		err = errStopping
	}
	if err != nil {
		return nil, err
	}
	f = h.standingFor(f)
	i := f.instances[ref.Key]
	if i == nil && !wake {
		return nil, notAwake(ref)
	}
	if i, err = h.find(f, ref.Key, p); err != nil {
		return nil, err
	}
	if direct != nil && i.status == agent.InstanceAwake && !i.stopping && direct(i) {
		return nil, nil
	}
	if max := f.manager.Mailbox(); len(i.mailbox) >= max {
		e := agent.Errorf(agent.CodeOverloaded, "%d calls wait for the instance already: come back later", max)
		e.Limit, e.RetryAfterMS = fmt.Sprintf("mailbox_max=%d", max), mailboxRetryMS
		return nil, e
	}
	h.put(i, l)
	return i, nil
}

func notAwake(ref agent.InstanceRef) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "instance %q of manager %q is not awake", ref.Key, ref.Manager)
}

// put puts a letter into the mailbox. mu is held.
func (h *Host) put(i *instance, l *letter) {
	i.mailbox = append(i.mailbox, l)
	i.family.resting.remove(i)
	if !i.working {
		i.working = true
		h.workers.Add(1)
		go h.work(i)
	}
}

// await waits for the answer to a letter. One that has not been begun when ctx
// ends is taken back: surely not handled. Otherwise nobody can tell yet.
func (h *Host) await(ctx context.Context, i *instance, l *letter) answer {
	select {
	case a := <-l.done:
		return a
	case <-ctx.Done():
	}
	h.mu.Lock()
	withdrawn := !l.begun && i.withdraw(l)
	h.mu.Unlock()
	select {
	case a := <-l.done: // just now
		return a
	default:
	}
	if withdrawn {
		return answer{err: agent.Errorf(agent.CodeUnavailable, "the call ended before the instance came to it: %v", context.Cause(ctx))}
	}
	return answer{err: agent.Errorf(agent.CodeUnknown, "the call ended while it was being handled: it may yet apply")}
}

// withdraw takes a letter out of the mailbox, and tells whether it was there.
// mu is held.
func (i *instance) withdraw(l *letter) bool {
	for at, waiting := range i.mailbox {
		if waiting == l {
			i.mailbox = append(i.mailbox[:at:at], i.mailbox[at+1:]...)
			return true
		}
	}
	return false
}

// next is the letter that comes next, begun; nil where there is none, and the
// instance rests or is gone. mu is not held.
func (h *Host) next(i *instance) *letter {
	h.mu.Lock()
	defer h.mu.Unlock()
	i.cancel, i.stopping = nil, false
	if i.gone == nil && len(i.mailbox) > 0 {
		l := i.mailbox[0]
		if i.mailbox = i.mailbox[1:]; len(i.mailbox) == 0 {
			i.mailbox = nil
		}
		l.begun, i.stopping = true, l.stop
		h.recount(i, l.why())
		return l
	}
	h.idle(i)
	return nil
}

// finish notes that a letter is worked off. Where none waits the worker ends
// before the answer is told, so that whoever hears it finds the instance at
// rest, or gone. mu is not held.
func (h *Host) finish(i *instance, l *letter) (ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settled(i, l)
	if len(i.mailbox) > 0 || h.heat(i) > 0 {
		return false
	}
	i.cancel, i.stopping = nil, false
	h.idle(i)
	return true
}

// idle ends the work of an instance for which no letter waits. mu is held.
func (h *Host) idle(i *instance) {
	i.working = false
	h.recount(i, agent.ReasonFailed) // one that was to stop is awake still
	h.arm(i)
	h.rest(i)
}

// settled notes that a letter is out of the mailbox for good. mu is held.
func (h *Host) settled(i *instance, l *letter) {
	if l.unasked {
		i.leaving = false
		h.saving--
		h.recount(i, stayed(i))
	}
}
