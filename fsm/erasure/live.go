package erasure

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/timer"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// EndingsKey is touched when an owner must end a live instance, in any scope. No scope has the name
// "".
var EndingsKey = kv.IDKey(kv.KindEnding, "", "")

// askToEnd adds an agent that is an instance to the index of instances to end. stored reports
// whether it had a checkpoint.
func (e *Erasure) askToEnd(stored bool) {
	if _, _, ok := agent.InstanceOf(e.agent); !ok || e.Level < txn.EndingLevel {
		return
	}
	row := e.row
	before := row.Ending && e.Level >= txn.ErasedTwiceLevel // an earlier erasure waits for the end of the same instance
	e.cleared = row.CompletedAt != 0
	row.AskedAgain = e.cleared && row.Index != e.Progress.Index || before && row.AskedAgain
	row.ErasedIndex, row.Ending, row.CompletedAt = e.Progress.Index, true, 0
	if row.InstanceCounted = stored || before && row.InstanceCounted; stored {
		row.Instances++
	}
	e.Rows.Set(kv.IDKey(kv.KindEnding, e.Scope, e.agent), kv.Indexed)
	e.NotifyWatchers(EndingsKey)
}

// finish ends the removal of rows. The erasure is complete unless a live instance must still be
// ended.
func (e *Erasure) finish() {
	if e.row.Ending {
		e.cleared = true
	} else {
		e.row.CompletedAt = max(e.Progress.Wall, 1)
	}
}

// EndInstance records that the live instance of an erased agent has ended. It does not count for a
// later erasure.
func EndInstance(c *txn.Tx, p *logpb.EndInstance) (agent.OpResult, error) {
	if err := agent.ValidKey("agent", p.Agent); err != nil {
		return nil, err
	}
	row, err := txn.LoadErasure(c, p.Agent)
	if err != nil || !row.GetEnding() || row.ErasedIndex != p.ErasedIndex {
		return &agent.DeleteResult{}, err
	}
	e := &Erasure{Tx: c, agent: p.Agent, row: row}
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

// hasTimers reports whether the agent is an instance that has timers.
func (e *Erasure) hasTimers() (bool, error) {
	manager, key, ok := agent.InstanceOf(e.agent)
	if !ok || e.Level < txn.EndingLevel {
		return false, nil
	}
	prefix := kv.TimersOf(kv.KindTimer, e.Scope, manager, key)
	keys, _, err := e.Rows.Keys(prefix, kv.After(prefix), 1)
	return len(keys) > 0, err
}

// timers removes the timers of an agent that is an instance.
func (e *Erasure) timers() error {
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
		if err := t.Drop(); err != nil {
			return err
		}
	}
	return nil
}
