package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/sim/simnet"
)

// variant is one form of a fault.
type variant struct {
	fault, name       string
	nodesMin          int
	shortest, longest time.Duration

	// begin injects the fault, and returns what it hit and how to heal it.
	begin func(ctx context.Context, a *act) (detail string, heal func(ctx context.Context) error)
}

// act is a step while it is carried out.
type act struct {
	*Cluster
	Step
	draw *rand.Rand
}

// Disturb implements jepsen.Cluster.
func (c *Cluster) Disturb(ctx context.Context, record *history.Recorder, tell func(string)) error {
	c.mu.Lock()
	c.record = record
	c.mu.Unlock()
	var wait sync.WaitGroup
	errs := make([]error, len(c.plan.Steps))
	for i, s := range c.plan.Steps {
		wait.Go(func() { errs[i] = c.step(ctx, s, tell) })
	}
	wait.Wait()
	c.net.Heal()
	return errors.Join(errs...)
}

// healMax bounds the healing of one fault.
const healMax = 60 * time.Second

// step carries out one step.
func (c *Cluster) step(ctx context.Context, s Step, tell func(string)) error {
	if !pause.For(ctx, s.At) {
		return nil
	}
	v := variants[0]
	for _, one := range variants {
		if one.fault == s.Fault && one.name == s.Variant {
			v = one
		}
	}
	a := &act{Cluster: c, Step: s, draw: rand.New(rand.NewPCG(s.Seed, 3))}
	name := s.Fault + "/" + s.Variant
	c.trace.Note("fault", name, uint64(s.N))
	c.count("faults", 1)
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	// The event comes first: what the fault causes must lie in its window.
	c.event(history.Event{Kind: history.EventFault, Name: s.Fault, Step: s.N, Detail: s.Variant, Data: data})
	detail, heal := v.begin(ctx, a)
	tell(fmt.Sprintf("fault %d: %s: %s", s.N, name, detail))
	pause.For(ctx, s.For)
	if heal != nil {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), healMax)
		err = heal(within)
		cancel()
	}
	c.trace.Note("healed", name, uint64(s.N))
	c.event(history.Event{Kind: history.EventHeal, Name: s.Fault, Step: s.N, Detail: detail})
	tell(fmt.Sprintf("healed %d: %s", s.N, name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// mayExit says that the fault may end a host's process, until the returned function is
// called.
func (a *act) mayExit(h *host) (mustRun func()) {
	h.mu.Lock()
	h.mayExit++
	h.mu.Unlock()
	a.event(history.Event{Kind: history.EventNote, Name: check.NoteMayExit, Node: h.name, Detail: "any"})
	return func() {
		h.mu.Lock()
		h.mayExit--
		last := h.mayExit == 0
		h.mu.Unlock()
		if last {
			a.event(history.Event{Kind: history.EventNote, Name: check.NoteMustRun, Node: h.name})
		}
	}
}

// any returns a random host.
func (a *act) any() *host { return a.hosts[a.draw.IntN(len(a.hosts))] }

// leads returns the leader's host, or any if there is none.
func (a *act) leads() *host {
	if h := a.leader(); h != nil {
		return h
	}
	return a.any()
}

// follows returns a host that does not lead.
func (a *act) follows() *host {
	leader := a.leader()
	for {
		if h := a.any(); h != leader || len(a.hosts) == 1 {
			return h
		}
	}
}

// shuffled returns all hosts in random order.
func (a *act) shuffled() []*host {
	all := append([]*host(nil), a.hosts...)
	a.draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// links changes the links between each two of the hosts that which selects, for the time
// of the fault.
func (a *act) links(which func(from, to string) bool, change func(*simnet.Link)) func(context.Context) error {
	var changed [][2]string
	for _, from := range a.hosts {
		for _, to := range a.hosts {
			if from != to && which(from.name, to.name) {
				changed = append(changed, [2]string{from.name, to.name})
				a.net.Set(from.name, to.name, change)
			}
		}
	}
	return func(context.Context) error {
		for _, l := range changed {
			a.net.Set(l[0], l[1], func(l *simnet.Link) { *l = a.plan.Link })
		}
		return nil
	}
}

func names(all ...*host) string {
	var list []string
	for _, h := range all {
		list = append(list, h.name)
	}
	return strings.Join(list, " ")
}
