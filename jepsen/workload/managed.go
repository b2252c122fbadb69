package workload

import (
	"context"
	"sync"
	"time"

	"dormouse/agent"
)

// callManage sets a workload's manager. It has no key, and no checker reads it.
const callManage = "manage"

// Managed is the manager of a workload's instances. The workload's processes set it
// before they make other calls.
type Managed struct {
	Manager agent.Manager

	mu   sync.Mutex
	done bool // guarded by mu
}

// Set tries to set the manager unless it is already set, and reports whether it is
// set.
func (m *Managed) Set(ctx context.Context, p *Process) bool {
	m.mu.Lock()
	done := m.done
	m.mu.Unlock()
	if done {
		return true
	}
	_, err := Call(ctx, p, callManage, "", true, struct{}{}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.In(p.Scope).PutManager(ctx, agent.PutManager{Manager: m.Manager})
		return struct{}{}, err
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = m.done || err == nil
	return m.done
}

// SignalTTL is how long the answer to a signal is kept. It is longer than any run.
const SignalTTL = 10 * time.Minute

// CounterIdle is the idle time of instances; it is short so that they hibernate and
// wake often.
const CounterIdle = 300 * time.Millisecond
