package timer

import (
	"encoding/hex"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// Get answers get_timer.
func Get(r txn.Reader, q *agent.GetTimer) (agent.Found, error) {
	n := kv.TimerName{Manager: q.Manager, Key: q.Key, ID: q.ID}
	raw, err := r.Get(n.Row(kv.KindTimer, r.Scope))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("timer", q.ID)
	}
	t, err := Read(r, n, raw)
	return &t, err
}

// Read returns a timer with its data.
func Read(r txn.Reader, n kv.TimerName, raw []byte) (agent.Timer, error) {
	row, err := command.DecodeTimerRow(n.ID, raw)
	if err != nil {
		return agent.Timer{}, err
	}
	data, err := r.Get(n.Row(kv.KindTimerData, r.Scope))
	if err != nil {
		return agent.Timer{}, err
	}
	return command.TimerOf(n, row, command.OrEmptyObject(data)), nil
}

// List lists timers. The page token is the last key without the prefix, in hex.
func List(r txn.Reader, q *agent.ListTimers) (agent.Found, error) {
	prefix := kv.IDKey(kv.KindTimer, r.Scope, q.Manager)
	if q.Key != "" {
		prefix = kv.TimersOf(kv.KindTimer, r.Scope, q.Manager, q.Key)
	}
	lower := prefix + q.Prefix
	upper := kv.After(lower)
	if q.After != "" {
		place, err := hex.DecodeString(q.After)
		if err != nil {
			return nil, agent.Invalid("after", "invalid page token %q: use the next value of the previous page", q.After)
		}
		lower = max(lower, prefix+string(place)+"\x00")
	}
	list := &agent.TimerList{}
	last, err := r.EachOfPage(lower, upper, q.Limit, agent.ReadBytesMax-agent.TimerDataBytesMax, func(key string, raw []byte) (int, error) {
		_, n, _ := kv.SplitTimer(key)
		t, err := Read(r, n, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, t)
		return len(key) + len(raw) + len(t.Data), nil
	})
	if err != nil || last == "" {
		return list, err
	}
	list.Next = hex.EncodeToString([]byte(last[len(prefix):]))
	return list, nil
}
