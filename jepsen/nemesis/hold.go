package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// holds coordinates parallel lanes: two lanes must not start and stop one process, nor
// destroy more disks, and take more votes away, than the cluster tolerates together.
type holds struct {
	mu      sync.Mutex
	freed   chan struct{}   // guarded by mu; closed and replaced whenever a hold is released
	claimed map[string]bool // guarded by mu; :: host → a fault controls its process
	harmed  map[string]bool // guarded by mu; :: host → its data may be lost or its vote gone, and the node does not vote again yet
}

func newHolds() *holds {
	return &holds{freed: make(chan struct{}), claimed: map[string]bool{}, harmed: map[string]bool{}}
}

// claim reserves the processes of all hosts for the caller until release. It waits
// while another fault holds any of them.
func (h *holds) claim(ctx context.Context, hosts ...string) (release func(), err error) {
	busy := func() bool { return slices.ContainsFunc(hosts, func(name string) bool { return h.claimed[name] }) }
	if !h.await(ctx, busy, func() {
		for _, name := range hosts {
			h.claimed[name] = true
		}
	}) {
		return nil, errors.New("another fault holds the host")
	}
	return sync.OnceFunc(func() {
		h.giveBack(func() {
			for _, name := range hosts {
				delete(h.claimed, name)
			}
		})
	}), nil
}

// harm reserves one of the spare losses that the cluster tolerates until mended is
// called. It waits while all are in use.
func (h *holds) harm(ctx context.Context, host string, spare int) (mended func(), err error) {
	if !h.await(ctx, func() bool { return len(h.harmed) >= spare }, func() { h.harmed[host] = true }) {
		return nil, fmt.Errorf("the cluster tolerates the loss of %d disks or votes, and other faults hold them all", spare)
	}
	return sync.OnceFunc(func() { h.giveBack(func() { delete(h.harmed, host) }) }), nil
}

// await waits until busy returns false and then calls do under the same lock. It
// returns false if ctx ends first.
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
