package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// holds say which host is whose: lanes that run side by side must not start and
// stop one process across each other, nor destroy more than the cluster can
// stand.
type holds struct {
	mu      sync.Mutex
	freed   chan struct{}   // guarded by mu; closed, and made again, whenever something is given back
	claimed map[string]bool // guarded by mu; :: host → its process is some fault's to start and stop
	harmed  map[string]bool // guarded by mu; :: host → what it knew may be lost, and is not made good yet
}

func newHolds() *holds {
	return &holds{freed: make(chan struct{}), claimed: map[string]bool{}, harmed: map[string]bool{}}
}

// claim makes the hosts' processes the caller's, all or none, until release. It
// waits while another fault has any of them.
func (h *holds) claim(ctx context.Context, hosts ...string) (release func(), err error) {
	busy := func() bool { return slices.ContainsFunc(hosts, func(name string) bool { return h.claimed[name] }) }
	if !h.await(ctx, busy, func() {
		for _, name := range hosts {
			h.claimed[name] = true
		}
	}) {
		return nil, errors.New("another fault has the host all the while")
	}
	return sync.OnceFunc(func() {
		h.giveBack(func() {
			for _, name := range hosts {
				delete(h.claimed, name)
			}
		})
	}), nil
}

// harm reserves one of the losses that the cluster can stand, spare in all,
// until mended is called. It waits while they are in use.
func (h *holds) harm(ctx context.Context, host string, spare int) (mended func(), err error) {
	if !h.await(ctx, func() bool { return len(h.harmed) >= spare }, func() { h.harmed[host] = true }) {
		return nil, fmt.Errorf("the cluster can stand the loss of %d disks, and another fault has them", spare)
	}
	return sync.OnceFunc(func() { h.giveBack(func() { delete(h.harmed, host) }) }), nil
}

// await waits until it is not busy, and then does what follows from it under
// the same lock; false where ctx ended before.
func (h *holds) await(ctx context.Context, busy func() bool, do func()) bool {
	for {
		h.mu.Lock()
		if !busy() {
			do()
			h.mu.Unlock()
			return true
		}
		freed := h.freed
		h.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (h *holds) giveBack(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.freed)
	h.freed = make(chan struct{})
}
