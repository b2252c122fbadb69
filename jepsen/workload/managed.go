package workload

import (
	"context"
	"sync"
	"time"

	"dormouse/agent"
)

// callManage sets a workload's manager; it is of no key, and no judge looks at it.
const callManage = "manage"

// managed is the manager of a workload's instances, which its processes set
// before anything else.
type managed struct {
	manager agent.Manager

	mu   sync.Mutex
	done bool // guarded by mu
}

// set tries to set it, unless that was done, and tells whether it is there.
func (m *managed) set(ctx context.Context, p *Process) bool {
	m.mu.Lock()
	done := m.done
	m.mu.Unlock()
	if done {
		return true
	}
	_, err := Call(ctx, p, callManage, "", true, struct{}{}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.In(p.Scope).PutManager(ctx, agent.PutManager{Manager: m.manager})
		return struct{}{}, err
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = m.done || err == nil
	return m.done
}

// signalTTL is how long the answer to a signal is kept: a run ends sooner.
const signalTTL = 10 * time.Minute

// counterIdle is the idle time of instances that sleep and wake all the time.
const counterIdle = 300 * time.Millisecond
