package instance

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"dormouse/agent"
)

// managerFresh is how long a manager's row is taken for what the store has: a
// change reaches instances that are awake after so long at most.
const managerFresh = time.Second

// familyID names a manager.
type familyID struct{ scope, name string }

// familyIdle is after how long without a call a family that has no instances may
// be let go, and familiesMin how many are never looked through for such.
const (
	familyIdle  = 10 * time.Minute
	familiesMin = 64
)

// family is the instances of one manager on this node.
type family struct {
	scope, name string

	// Guarded by Host.mu.
	manager   agent.Manager
	known     bool // manager has been read
	version   int  // grows when instances must be thawed anew: another handler, storage or version
	readAt    time.Duration
	instances map[string]*instance // :: key
	resting   resting              // those that could sleep
	tally     tally
	skips     agent.JSON    // a merge patch that takes out what is not stored; nil where all is
	elsewhere agent.Service // Options.Storage's answer; nil means the cluster
}

// family is the manager's family, with its row as it stood at most managerFresh
// ago. A manager that is not there is not_found.
func (h *Host) family(ctx context.Context, scope, name string) (*family, error) {
	h.mu.Lock()
	f := h.families[familyID{scope, name}]
	if f == nil {
		f = &family{scope: scope, name: name, instances: map[string]*instance{}}
		if h.o.Storage != nil {
			f.elsewhere = h.o.Storage(scope, name)
		}
	}
	fresh := f.known && h.now()-f.readAt < managerFresh
	known := f.known
	f.readAt = h.now() // others need not read it too
	h.mu.Unlock()
	if fresh {
		return f, nil
	}
	get := agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetManager{Name: name}}}
	if known { // what this node has applied will do, unless it says that there is none
		get.Stale = true
		if answers, err := h.o.Service.Read(ctx, get); err == nil {
			if f, err := h.learn(f, answers); err == nil {
				return f, nil
			}
		}
		get.Stale = false
	}
	answers, err := h.o.Service.Read(ctx, get)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	return h.learn(f, answers)
}

// learn takes over a manager's row, and returns its family. An older row than is
// known changes nothing.
func (h *Host) learn(f *family, answers agent.Answers) (*family, error) {
	if len(answers.Answers) != 1 {
		return nil, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := answers.Answers[0].Found.(*agent.Manager)
	if !ok {
		f.known = false
		if e := answers.Answers[0].Err; e != nil && e.Code != agent.CodeNotFound {
			return nil, e
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q in scope %q: put it first", f.name, f.scope)
	}
	f = h.standingFor(f)
	f.readAt = h.now()
	old := f.manager
	if f.known && (m.Incarnation < old.Incarnation || m.Incarnation == old.Incarnation && m.Revision <= old.Revision) {
		return f, nil
	}
	f.manager, f.known = *m, true
	if m.Handler != old.Handler || m.Version != old.Version || m.Storage != old.Storage || string(m.Schedules) != string(old.Schedules) {
		f.version++
	}
	f.skips = skipPatch(m.SkipsPersist)
	for _, i := range f.instances { // timeouts may be other ones
		h.arm(i)
	}
	return f, nil
}

// standingFor is the family that stands for a manager now, where f did: two of
// them would be two instances of a key. mu is held.
func (h *Host) standingFor(f *family) *family {
	id := familyID{f.scope, f.name}
	if other := h.families[id]; other != nil {
		return other
	}
	if len(h.families) >= max(h.sweepAt, familiesMin) {
		h.sweepFamilies()
	}
	h.families[id] = f
	return f
}

// sweepFamilies lets those go that are idle. It looks again once there are twice
// as many as stay, so that there never are many more than are in use. mu is
// held.
func (h *Host) sweepFamilies() {
	now := h.now()
	for id, f := range h.families {
		if len(f.instances) == 0 && now-f.readAt >= familyIdle {
			delete(h.families, id)
		}
	}
	h.sweepAt = 2 * len(h.families)
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

// service is where the family's instances are stored; nil means nowhere. mu is
// held, or the caller works for one of its instances.
func (h *Host) service(f *family) agent.Service { return h.serviceUnder(f, f.manager) }

// serviceUnder is where they are stored under a manager.
func (h *Host) serviceUnder(f *family, m agent.Manager) agent.Service {
	switch {
	case m.Storage == agent.KeepNone:
		return nil
	case f.elsewhere != nil:
		return f.elsewhere
	default:
		return h.o.Service
	}
}

// config is the family's manager as it is known now.
func (h *Host) config(f *family) (m agent.Manager, service agent.Service, version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f.manager, h.service(f), f.version
}

// first is the first of errs that is one.
func first(errs ...error) error {
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
