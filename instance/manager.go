package instance

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"dormouse/agent"
)

// managerMaxAge is how long a manager's row is taken for what the store has: a
// change reaches instances that are awake after so long at most.
const managerMaxAge = time.Second

// managerID names a manager.
type managerID struct{ scope, name string }

// managerIdleAfter is after how long without a call a family that has no instances may
// be let go, and managersSweepMin how many are never looked through for such.
const (
	managerIdleAfter = 10 * time.Minute
	managersSweepMin = 64
)

// managerState is the instances of one manager on this node.
type managerState struct {
	scope, name string

	// Guarded by Host.mu.
	config    agent.Manager
	loaded    bool // manager has been read
	version   int  // grows when instances must be thawed anew: another handler, storage or version
	readAt    time.Duration
	instances map[string]*instance // :: key
	idle      idleList             // those that could sleep
	counters  counters
	skipPatch agent.JSON    // a merge patch that takes out what is not stored; nil where all is
	external  agent.Service // Options.Storage's answer; nil means the cluster
}

// manager is the manager's family, with its row as it stood at most managerMaxAge
// ago. A manager that is not there is not_found.
func (h *Host) manager(ctx context.Context, scope, name string) (*managerState, error) {
	h.mu.Lock()
	ms := h.managers[managerID{scope, name}]
	if ms == nil {
		ms = &managerState{scope: scope, name: name, instances: map[string]*instance{}}
		if h.o.Storage != nil {
			ms.external = h.o.Storage(scope, name)
		}
	}
	fresh := ms.loaded && h.now()-ms.readAt < managerMaxAge
	known := ms.loaded
	ms.readAt = h.now() // others need not read it too
	h.mu.Unlock()
	if fresh {
		return ms, nil
	}
	get := agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetManager{Name: name}}}
	if known { // what this node has applied will do, unless it says that there is none
		get.Stale = true
		if answers, err := h.o.Service.Read(ctx, get); err == nil {
			if ms, err := h.updateManager(ms, answers); err == nil {
				return ms, nil
			}
		}
		get.Stale = false
	}
	answers, err := h.o.Service.Read(ctx, get)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return h.updateManager(ms, answers)
}

// updateManager takes over a manager's row, and returns its family. An older row than is
// known changes nothing.
func (h *Host) updateManager(ms *managerState, answers agent.Answers) (*managerState, error) {
	if len(answers.Answers) != 1 {
		return nil, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := answers.Answers[0].Found.(*agent.Manager)
	if !ok {
		ms.loaded = false
		if e := answers.Answers[0].Err; e != nil && e.Code != agent.CodeNotFound {
			return nil, e
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q in scope %q: put it first", ms.name, ms.scope)
	}
	ms = h.canonical(ms)
	ms.readAt = h.now()
	old := ms.config
	if ms.loaded && (m.Incarnation < old.Incarnation || m.Incarnation == old.Incarnation && m.Revision <= old.Revision) {
		return ms, nil
	}
	ms.config, ms.loaded = *m, true
	if m.Handler != old.Handler || m.Version != old.Version || m.Storage != old.Storage || string(m.Schedules) != string(old.Schedules) {
		ms.version++
	}
	ms.skipPatch = skipPatch(m.SkipsPersist)
	for _, i := range ms.instances { // timeouts may be other ones
		h.scheduleDue(i)
	}
	return ms, nil
}

// canonical is the family that stands for a manager now, where f did: two of
// them would be two instances of a key. mu is held.
func (h *Host) canonical(ms *managerState) *managerState {
	id := managerID{ms.scope, ms.name}
	if other := h.managers[id]; other != nil {
		return other
	}
	if len(h.managers) >= max(h.sweepAt, managersSweepMin) {
		h.sweepManagers()
	}
	h.managers[id] = ms
	return ms
}

// sweepManagers lets those go that are idle. It looks again once there are twice
// as many as stay, so that there never are many more than are in use. mu is
// held.
func (h *Host) sweepManagers() {
	now := h.now()
	for id, ms := range h.managers {
		if len(ms.instances) == 0 && now-ms.readAt >= managerIdleAfter {
			delete(h.managers, id)
		}
	}
	h.sweepAt = 2 * len(h.managers)
}

// skipPatch is the merge patch that removes fields.
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

// serviceOf is where the family's instances are stored; nil means nowhere. mu is
// held, or the caller works for one of its instances.
func (h *Host) serviceOf(ms *managerState) agent.Service { return h.serviceFor(ms, ms.config) }

// serviceFor is where they are stored under a manager.
func (h *Host) serviceFor(ms *managerState, m agent.Manager) agent.Service {
	switch {
	case m.Storage == agent.KeepNone:
		return nil
	case ms.external != nil:
		return ms.external
	default:
		return h.o.Service
	}
}

// managerConfig is the family's manager as it is known now.
func (h *Host) managerConfig(ms *managerState) (m agent.Manager, service agent.Service, version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return ms.config, h.serviceOf(ms), ms.version
}

// firstError is the first of errs that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// isCode tells whether err has one of codes.
func isCode(err error, codes ...agent.Code) bool {
	return slices.Contains(codes, agent.CodeOf(err))
}
