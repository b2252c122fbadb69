package instance

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

// drainRetryMS is when to come back to a partition that drains.
const drainRetryMS = 50

// owns is the partition as this node owns it, or why it may not answer for it.
func (h *Host) owns(n int) (agent.Partition, error) {
	p := h.o.Ground.Partition(n)
	if err := h.mine(p); err != nil {
		return p, err
	}
	if h.leaseLeft() <= 0 {
		return p, errLapsed
	}
	return p, nil
}

// leaseLeft is how long this node's lease still stands.
func (h *Host) leaseLeft() time.Duration {
	if seededbug.Is(seededbug.LapsedLeaseAnswers) {
		return time.Hour
	}
	return time.Until(h.o.Ground.LeaseUntil())
}

// mine refuses a partition that is another's.
func (h *Host) mine(p agent.Partition) error {
	if h.has(p) {
		return nil
	}
	return notOwner(p, h.o.Node)
}

// has tells whether a partition is this node's.
func (h *Host) has(p agent.Partition) bool {
	return p.Epoch != 0 && p.Owner == h.o.Node && p.Incarnation == h.o.Incarnation
}

var errLapsed = agent.Errorf(agent.CodeUnavailable, "this node's lease has lapsed: it cannot tell whether it still owns the instance")

func notOwner(p agent.Partition, node string) *agent.Error {
	e := agent.Errorf(agent.CodeNotOwner, "node %s does not own partition %d; %s does, at epoch %d", node, p.ID, owner(p), p.Epoch)
	e.Holder, e.Epoch = p.Owner, p.Epoch
	return e
}

func owner(p agent.Partition) string {
	if p.Owner == "" {
		return "nobody"
	}
	return p.Owner
}

// opens is owns for what may begin work: a partition that drains takes no more.
func (h *Host) opens(n int) (agent.Partition, error) {
	p, err := h.owns(n)
	if err == nil && p.State == agent.PartitionDraining {
		e := agent.Errorf(agent.CodeNotOwner, "partition %d is on its way from %s to %s: try again shortly", n, p.Owner, owner(agent.Partition{Owner: p.To}))
		e.Holder, e.Epoch, e.Reason, e.RetryAfterMS = p.Owner, p.Epoch, "draining", drainRetryMS
		return p, e
	}
	return p, err
}

// stands tells why an instance may not act any more, if so.
func (h *Host) stands(i *instance) error {
	p, err := h.owns(i.partition)
	if err == nil && p.Epoch != i.epoch {
		err = notOwner(p, h.o.Node)
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return i.gone
}

// confirm reads at the store. It returns not_owner where the instance's epoch was
// not its partition's then: whoever else owns it got it later than that. It returns
// a staleError where the checkpoint or the thread is another than the instance's.
func (h *Host) confirm(ctx context.Context, i *instance, service agent.Service) error {
	f := i.family
	reads := []agent.Read{&agent.GetManager{Name: f.name}}
	if service == h.o.Service {
		reads = append(reads, i.stamps()...)
	}
	answers, err := h.o.Service.Read(ctx, agent.Reads{Scope: f.scope, Reads: reads})
	if err != nil {
		return unavailable(ctx, err)
	}
	if _, err := h.learn(f, agent.Answers{Index: answers.Index, Answers: answers.Answers[:1]}); err != nil {
		return err
	}
	stamps := answers.Answers[1:]
	if service != h.o.Service {
		elsewhere, err := service.Read(ctx, agent.Reads{Scope: f.scope, Reads: i.stamps()})
		if err != nil {
			return unavailable(ctx, err)
		}
		stamps = elsewhere.Answers
	}
	if err := i.asStored(stamps); err != nil {
		return err
	}
	p := h.o.Ground.Partition(i.partition)
	if err := h.mine(p); err != nil {
		return err
	}
	if p.Epoch != i.epoch {
		return notOwner(p, h.o.Node)
	}
	return nil
}

// unavailable is the error of something that did not come to pass: what ended
// its context, where that is what happened.
func unavailable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if code := agent.CodeOf(cause); code == agent.CodeUnavailable || code == agent.CodeNotOwner || isErased(cause) {
			return cause
		}
	}
	switch agent.OutcomeOf(err) {
	case agent.Refused:
		return err
	default:
		return agent.Errorf(agent.CodeUnavailable, "%v", err)
	}
}

// context is what work for an instance is done under: it ends with the lease,
// with the instance, and after d. cancel must be called.
func (h *Host) context(i *instance, d time.Duration) (context.Context, context.CancelFunc, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i.gone != nil {
		return nil, nil, i.gone
	}
	leased, err := h.lease()
	if err != nil {
		return nil, nil, err
	}
	ctx, drop := context.WithCancelCause(leased)
	ctx, cancel := context.WithTimeout(ctx, d)
	i.cancel = drop
	return ctx, func() { cancel(); drop(nil) }, nil
}

// lease is the context that ends when the lease lapses. mu is held.
func (h *Host) lease() (context.Context, error) {
	switch {
	case h.life == nil || h.life.Err() != nil:
		return nil, errStopping
	case h.leaseLeft() <= 0:
		return nil, errLapsed
	case h.leased == nil || h.leased.Err() != nil:
		h.leased, h.lapse = context.WithCancelCause(h.life)
		poke(h.relet)
	}
	return h.leased, nil
}

// watchLease ends all turns when the lease lapses.
func (h *Host) watchLease(ctx context.Context) error {
	for {
		h.mu.Lock()
		left := h.leaseLeft()
		live := h.leased != nil && h.leased.Err() == nil
		if live && left <= 0 {
			h.lapse(errLapsed)
			live = false
			h.o.Logger.Warn("the node's lease has lapsed: its instances do nothing until it stands again")
		}
		h.mu.Unlock()
		if !live {
			select {
			case <-h.relet:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if !pause.For(ctx, left) {
			return ctx.Err()
		}
	}
}

// poke fills a channel of one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (i *instance) String() string {
	return fmt.Sprintf("instance %s of manager %s in scope %s", i.key, i.family.name, i.family.scope)
}
