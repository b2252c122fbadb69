package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/timer"
	"dormouse/fsm/txn"
	"dormouse/placement"
	logpb "dormouse/proto/log"
)

// An agent that is an instance may be live in the memory of its partition's owner,
// with state that is not stored. Its erasure is complete only once the owner has
// ended it. The fence of each of the owner's commits names the agent and the index
// that the instance is as of, so what began before the erasure is not stored.

// endingsKey is touched when a live instance is to be ended, in whichever scope.
// No scope is "".
var endingsKey = kv.IDKey(kv.KindEnding, "", "")

// askToEnd puts an agent that is an instance among those to be ended. stored tells
// whether it had a checkpoint.
func (e *erasing) askToEnd(stored bool) {
	if _, _, ok := agent.InstanceOf(e.agent); !ok || e.Level < txn.EndingLevel {
		return
	}
	row := e.row
	e.cleared = row.CompletedAt != 0
	row.AskedAgain = e.cleared && row.Index != e.Progress.Index
	row.ErasedIndex, row.Ending, row.CompletedAt = e.Progress.Index, true, 0
	if row.InstanceCounted = stored; stored {
		row.Instances++
	}
	e.Rows.Set(kv.IDKey(kv.KindEnding, e.Scope, e.agent), kv.Indexed)
	e.NotifyWatchers(endingsKey)
}

// finish ends the clearing away. The erasure is complete unless a live instance is
// still to be ended.
func (e *erasing) finish() {
	if e.row.Ending {
		e.cleared = true
	} else {
		e.row.CompletedAt = max(e.Progress.Wall, 1)
	}
}

// endInstance notes that the live instance of an erased agent has ended. Another
// erasure since then has its own.
func endInstance(c *txn.Tx, p *logpb.EndInstance) (agent.OpResult, error) {
	if err := agent.ValidID("agent", p.Agent); err != nil {
		return nil, err
	}
	row, err := txn.LoadErasure(c, p.Agent)
	if err != nil || !row.GetEnding() || row.ErasedIndex != p.ErasedIndex {
		return &agent.DeleteResult{}, err
	}
	e := &erasing{Tx: c, agent: p.Agent, row: row}
	if row.Ending = false; p.Awake && !row.InstanceCounted {
		if row.AskedAgain {
			e.renew()
		}
		e.row.Instances, e.row.InstanceCounted = e.row.Instances+1, true
		e.witness("instance", e.agent, row.ErasedIndex)
	}
	c.Rows.Remove(kv.IDKey(kv.KindEnding, c.Scope, p.Agent))
	if err := e.clear(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true}, e.store()
}

// EncodeEndInstance encodes a commit which notes that a live instance has ended.
// awake tells whether it was in its owner's memory until then.
func (m *Machine) EncodeEndInstance(e agent.Ending, awake bool) []byte {
	return command.EncodeLogCommit(&logpb.Commit{Scope: e.Scope, Ops: []*logpb.Op{{Op: &logpb.Op_EndInstance{
		EndInstance: &logpb.EndInstance{Agent: e.Checkpoint(), ErasedIndex: e.Index, Awake: awake},
	}}}})
}

// Endings lists live instances of all scopes that are to be ended, limit of them at
// most, from a place on that an earlier call gave; "" is the beginning, and the end.
func (m *Machine) Endings(from string, limit int) (all []agent.Ending, next string, err error) {
	view := m.View()
	defer view.Close()
	if view.err != nil {
		return nil, "", view.err
	}
	r := view.reader("")
	lower := max(kv.KindEnding, from)
	last, err := r.EachOfPage(lower, kv.After(kv.KindEnding), uint64(limit), agent.ReadBytesMax, func(key string, _ []byte) (int, error) {
		_, scope, id, ok := kv.SplitID(key)
		manager, instance, is := agent.InstanceOf(id)
		if !ok || !is {
			return 0, fmt.Errorf("the index of instances to be ended holds %q", key)
		}
		if view.imports[scope] != nil {
			return 0, nil // the end of the import wakes the leader
		}
		raw, err := view.Get(kv.IDKey(kv.KindErasure, scope, id))
		if err != nil {
			return 0, err
		}
		row, err := command.DecodeErasureRow(id, raw)
		if err != nil || !row.Ending {
			return 0, err
		}
		all = append(all, agent.Ending{InstanceRef: agent.InstanceRef{Scope: scope, Manager: manager, Key: instance}, Index: row.ErasedIndex})
		return len(key), nil
	})
	if last != "" {
		next = last + "\x00"
	}
	return all, next, err
}

// Owned tells whether an instance's partition has an owner.
func (m *Machine) Owned(ref agent.InstanceRef) bool {
	return m.Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key)).Owner != ""
}

// WatchEndings signals after each entry that erased an instance: see WatchThread.
func (m *Machine) WatchEndings() (changed <-chan struct{}, cancel func()) {
	return m.watches.add(endingsKey)
}

// hasTimers tells whether the agent is an instance that has timers.
func (e *erasing) hasTimers() (bool, error) {
	manager, key, ok := agent.InstanceOf(e.agent)
	if !ok || e.Level < txn.EndingLevel {
		return false, nil
	}
	prefix := kv.TimersOf(kv.KindTimer, e.Scope, manager, key)
	keys, _, err := e.Rows.Keys(prefix, kv.After(prefix), 1)
	return len(keys) > 0, err
}

// timers removes the timers of an agent that is an instance.
func (e *erasing) timers() error {
	manager, key, ok := agent.InstanceOf(e.agent)
	if !ok || e.Level < txn.EndingLevel {
		return nil
	}
	prefix := kv.TimersOf(kv.KindTimer, e.Scope, manager, key)
	keys, _, err := e.Rows.Keys(prefix, kv.After(prefix), agent.TimersMax)
	if err != nil {
		return err
	}
	for _, row := range keys {
		_, n, _ := kv.SplitTimer(row)
		t, err := timer.Open(e.Tx, n.Manager, n.Key, n.ID)
		if err != nil {
			return err
		}
		if t.Row == nil {
			continue
		}
		e.row.Timers++
		e.witness("timer", n.ID, t.Row.Generation)
		t.Drop()
	}
	return nil
}
