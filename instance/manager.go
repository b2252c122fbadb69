package instance

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"dormouse/agent"
)

// managerMaxAge is the maximum age of a cached manager row. A changed manager
// reaches awake instances within this time.
const managerMaxAge = time.Second

// managerID identifies a manager.
type managerID struct{ scope, name string }

// managerIdleAfter is how long a manager without instances and calls stays
// cached. Up to managersSweepMin managers are always kept.
const (
	managerIdleAfter = 10 * time.Minute
	managersSweepMin = 64
)

// managerState is a manager's row and its instances on this node.
type managerState struct {
	scope, name string

	// Guarded by shared.mu.
	config    agent.Manager
	loaded    bool   // config has been read
	index     uint64 // of the log, at which config was read
	version   int    // incremented when awake instances must thaw again: another handler, storage, version or schedules
	readAt    time.Duration
	instances map[string]*instance // :: key
	idle      idleList             // instances that can hibernate
	counters  counters
	skipPatch agent.JSON    // removes the fields that are not stored; nil if all are
	external  agent.Service // the result of Options.Storage; nil means the cluster
}

// manager returns a manager's state, with a row that is at most managerMaxAge
// old. A missing manager is not_found.
func (tb *table) manager(ctx context.Context, scope, name string) (*managerState, error) {
	tb.mu.Lock()
	ms := tb.managers[managerID{scope, name}]
	if ms == nil {
		ms = &managerState{scope: scope, name: name, instances: map[string]*instance{}}
		if tb.o.Storage != nil {
			ms.external = tb.o.Storage(scope, name)
		}
	}
	fresh := ms.loaded && tb.now()-ms.readAt < managerMaxAge
	known := ms.loaded
	ms.readAt = tb.now() // concurrent calls need not read it too
	tb.mu.Unlock()
	if fresh {
		return ms, nil
	}
	get := agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetManager{Name: name}}}
	if known { // a stale read is enough, unless it finds no manager
		get.Stale = true
		if answers, err := tb.o.Service.Read(ctx, get); err == nil {
			if ms, err := tb.updateManager(ms, answers); err == nil {
				return ms, nil
			}
		}
		get.Stale = false
	}
	answers, err := tb.o.Service.Read(ctx, get)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return tb.updateManager(ms, answers)
}

// updateManager stores a manager's row that was read, and returns the manager's
// state. A row of a read at an earlier index than the known one changes nothing. Its numbers may be lower: an
// import brings those of its export.
func (tb *table) updateManager(ms *managerState, answers agent.Answers) (*managerState, error) {
	if len(answers.Answers) != 1 {
		return nil, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	m, ok := answers.Answers[0].Found.(*agent.Manager)
	if !ok {
		ms.loaded = false
		if e := answers.Answers[0].Err; e != nil && e.Code != agent.CodeNotFound {
			return nil, e
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q in scope %q: put it first", ms.name, ms.scope)
	}
	ms = tb.canonical(ms)
	ms.readAt = tb.now()
	if ms.loaded && answers.Index < ms.index { // an earlier read was answered later
		return ms, nil
	}
	ms.index = answers.Index
	old := ms.config
	if ms.loaded && m.Incarnation == old.Incarnation && m.Revision == old.Revision {
		return ms, nil
	}
	ms.config, ms.loaded = *m, true
	if m.Handler != old.Handler || m.Version != old.Version || m.Storage != old.Storage || string(m.Schedules) != string(old.Schedules) {
		ms.version++
	}
	ms.skipPatch = skipPatch(m.SkipsPersist)
	for _, i := range ms.instances { // timeouts may have changed
		tb.scheduleDue(i)
	}
	return ms, nil
}

// canonical returns the registered state of ms's manager, and registers ms if
// there is none. A second state could hold a second instance of a key. The
// caller holds mu.
func (tb *table) canonical(ms *managerState) *managerState {
	id := managerID{ms.scope, ms.name}
	if other := tb.managers[id]; other != nil {
		return other
	}
	if len(tb.managers) >= max(tb.sweepAt, managersSweepMin) {
		tb.sweepManagers()
	}
	tb.managers[id] = ms
	return ms
}

// sweepManagers removes idle managers. The next sweep is at twice the remaining
// number, so memory stays proportional to the managers in use. The caller holds
// mu.
func (tb *table) sweepManagers() {
	now := tb.now()
	for id, ms := range tb.managers {
		if len(ms.instances) == 0 && now-ms.readAt >= managerIdleAfter {
			delete(tb.managers, id)
		}
	}
	tb.sweepAt = 2 * len(tb.managers)
}

// skipPatch returns the merge patch that removes fields.
func skipPatch(fields []string) agent.JSON {
	if len(fields) == 0 {
		return nil
	}
	patch := map[string]any{}
	for _, field := range fields {
		patch[field] = nil
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return nil // strings always encode
	}
	return raw
}

// serviceOf returns the store of a manager's instances; nil means that they are
// not stored. The caller holds mu or works for one of the instances.
func (tb *table) serviceOf(ms *managerState) agent.Service { return tb.serviceFor(ms, ms.config) }

// serviceFor returns the store of the instances under the configuration m.
func (tb *table) serviceFor(ms *managerState, m agent.Manager) agent.Service {
	switch {
	case m.Storage == agent.KeepNone:
		return nil
	case ms.external != nil:
		return ms.external
	default:
		return tb.o.Service
	}
}

// managerConfig returns the manager's current row, store and version.
func (tb *table) managerConfig(ms *managerState) (m agent.Manager, service agent.Service, version int) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return ms.config, tb.serviceOf(ms), ms.version
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// isCode reports whether err has one of the codes.
func isCode(err error, codes ...agent.Code) bool {
	return slices.Contains(codes, agent.CodeOf(err))
}
