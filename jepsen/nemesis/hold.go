package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dormouse/jepsen/testbed"
)

// claim makes the hosts' processes the caller's until release; it waits while
// another fault has any of them, for the time of the step at most.
func (a *act) claim(ctx context.Context, hosts ...*testbed.Host) (release func(), err error) {
	busy := func() bool {
		return slices.ContainsFunc(hosts, func(h *testbed.Host) bool { return a.claimed[h.Name()] })
	}
	if err := a.await(ctx, busy, func() {
		for _, h := range hosts {
			a.claimed[h.Name()] = true
		}
	}); err != nil {
		return nil, errors.New("another fault has the host all the while")
	}
	return sync.OnceFunc(func() {
		a.change(func() {
			for _, h := range hosts {
				delete(a.claimed, h.Name())
			}
		})
	}), nil
}

// harm reserves one of the hosts of which the cluster can spare the memory: a
// minority of its members. It waits as claim does.
func (a *act) harm(ctx context.Context, h *testbed.Host) error {
	spare := (len(a.members()) - 1) / 2
	if err := a.await(ctx, func() bool { return len(a.harmed) >= spare }, func() { a.harmed[h.Name()] = true }); err != nil {
		return fmt.Errorf("the cluster can spare the disks of %d nodes only, and another fault has them", spare)
	}
	return nil
}

// mended gives the reserve back.
func (a *act) mended(h *testbed.Host) { a.change(func() { delete(a.harmed, h.Name()) }) }

// await waits, for the time of the step at most, until the condition is false,
// and then does what follows from it under the same lock.
func (a *act) await(ctx context.Context, busy func() bool, do func()) error {
	ctx, cancel := context.WithTimeout(ctx, a.For)
	defer cancel()
	for {
		a.mu.Lock()
		if !busy() {
			do()
			a.mu.Unlock()
			return nil
		}
		freed := a.freed
		a.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// change changes what others wait for.
func (a *act) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
	close(a.freed)
	a.freed = make(chan struct{})
}
