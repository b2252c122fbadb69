package memstore

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

// TimerModel is a simple model of a scope's timers, for services in memory: they never
// fire.
type TimerModel map[TimerName]agent.Timer

// TimerName names a timer of a scope.
type TimerName struct{ Manager, Key, ID string }

// Clone returns a copy, for a commit that may be refused.
func (m TimerModel) Clone() TimerModel { return maps.Clone(m) }

// Apply applies an op on a timer at a wall time; ok is false for any other op. born
// returns a new generation.
func (m TimerModel) Apply(op agent.Op, now int64, born func() uint64) (result agent.OpResult, refusal *agent.Error, ok bool) {
	switch o := op.(type) {
	case *agent.PutTimer:
		return timerResult(m.put(&o.Timer, now, born)), nil, true
	case *agent.DeleteTimer:
		name := TimerName{o.Manager, o.Key, o.ID}
		old, there := m[name]
		delete(m, name)
		return &agent.DeleteResult{Existed: there, Incarnation: old.Generation}, nil, true
	case *agent.AckTimer:
		name := TimerName{o.Manager, o.Key, o.ID}
		t, refusal := m.pending(name, o.Generation, o.Instant)
		if refusal != nil {
			return nil, refusal, true
		}
		if o.Next == 0 {
			delete(m, name)
			return &agent.TimerResult{}, nil, true
		}
		t.Next, t.NotBefore, t.Attempts, t.Parked, t.LastError = o.Next, 0, 0, false, ""
		m[name] = t
		return timerResult(t), nil, true
	case *agent.FailTimer:
		name := TimerName{o.Manager, o.Key, o.ID}
		t, refusal := m.pending(name, o.Generation, o.Instant)
		if refusal != nil {
			return nil, refusal, true
		}
		if !o.Waits {
			t.Attempts++
		}
		t.NotBefore, t.LastError, t.Parked = o.NotBefore, o.Error, t.Attempts >= agent.TimerAttemptsMax
		m[name] = t
		return timerResult(t), nil, true
	default:
		return nil, nil, false
	}
}

func (m TimerModel) put(plan *agent.Timer, now int64, born func() uint64) agent.Timer {
	t, name := *plan, TimerName{plan.Manager, plan.Key, plan.ID}
	t.Generation, t.CreatedAt, t.UpdatedAt = born(), now, now
	if old, there := m[name]; there {
		t.CreatedAt = old.CreatedAt
	}
	m[name] = t
	return t
}

func timerResult(t agent.Timer) agent.OpResult {
	t.Data = nil
	return &agent.TimerResult{Timer: t}
}

func (m TimerModel) pending(name TimerName, generation uint64, instant int64) (agent.Timer, *agent.Error) {
	t, there := m[name]
	if !there || t.Generation != generation || t.Next != instant {
		return agent.Timer{}, agent.Errorf(agent.CodeConflict, "timer %q has another pending occurrence", name.ID)
	}
	return t, nil
}

// Find answers a read of timers; ok is false for any other read.
func (m TimerModel) Find(read agent.Read) (found agent.Found, refusal *agent.Error, ok bool) {
	switch q := read.(type) {
	case *agent.GetTimer:
		t, there := m[TimerName{q.Manager, q.Key, q.ID}]
		if !there {
			return nil, agent.Errorf(agent.CodeNotFound, "there is no timer %q", q.ID), true
		}
		return &t, nil, true
	case *agent.ListTimers:
		return m.list(q), nil, true
	default:
		return nil, nil, false
	}
}

func (m TimerModel) list(q *agent.ListTimers) *agent.TimerList {
	place := func(n TimerName) string { return n.Key + "\x00" + n.ID }
	names := slices.SortedFunc(maps.Keys(m), func(a, b TimerName) int { return cmp.Compare(place(a), place(b)) })
	after, _ := hex.DecodeString(q.After)
	limit := q.Limit
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	list := &agent.TimerList{}
	for _, n := range names {
		prefixed := n.Key
		if q.Key != "" {
			prefixed = n.ID
		}
		if n.Manager != q.Manager || q.Key != "" && n.Key != q.Key || !strings.HasPrefix(prefixed, q.Prefix) || len(after) > 0 && place(n) <= string(after) {
			continue
		}
		if uint64(len(list.Items)) == limit {
			last := list.Items[limit-1]
			list.Next = hex.EncodeToString([]byte(place(TimerName{Key: last.Key, ID: last.ID})))
			break
		}
		list.Items = append(list.Items, m[n])
	}
	return list
}
