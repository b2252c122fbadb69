package scoperow

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// One step of a vacuum visits at most vacuumRowsMax rows of a queue, and stops after it has read
// vacuumBytesMax of their targets.
const (
	vacuumRowsMax  = 256
	vacuumBytesMax = 1 << 20
)

// Vacuum visits the next rows of the queues of wall times and removes those that are dead. Its cost is
// all that one entry may sweep, so that what else is due waits for the next entry.
func Vacuum(b *txn.Entry) (cost int, err error) {
	state, err := b.LoadVacuum()
	if err != nil || len(state.Next) == 0 {
		return 0, err
	}
	queue := string(state.Next[:1])
	keys, more, err := b.Rows.Keys(string(state.Next), kv.After(queue), vacuumRowsMax)
	if err != nil {
		return 0, err
	}
	read := 0
	for ; len(keys) > 0 && read < vacuumBytesMax; keys = keys[1:] {
		dead, bytes, err := isDead(b.Rows, keys[0])
		if err != nil {
			return 0, err
		}
		read += bytes
		if dead {
			b.Rows.Remove(keys[0])
		} else {
			state.Kept++
		}
		state.Next = []byte(keys[0] + kv.Separator)
	}
	switch {
	case more || len(keys) > 0:
	case queue == kv.KindDueWall:
		state.Next = []byte(kv.KindDueTimer)
	default:
		state.Live, state.Next = state.Kept, nil
	}
	if len(state.Next) > 0 {
		b.ContinueVacuum()
	}
	b.StoreVacuum(state)
	return txn.SweepMax, nil
}

// isDead reports whether a row of a queue has no effect when it falls due: its target does not exist, or
// is due at another time. bytes is the size of the target.
func isDead(rows kv.Reader, key string) (dead bool, bytes int, err error) {
	when, target, ok := kv.SplitDue(key)
	if !ok {
		return false, 0, fmt.Errorf("a queue holds a key of %d bytes", len(key))
	}
	if strings.HasPrefix(target, kv.KindSystem) {
		return false, 0, nil // a backfill, or the vacuum itself
	}
	raw, err := rows.Get(target)
	if err != nil || raw == nil {
		return err == nil, 0, err
	}
	kind, rest := target[:1], target[strings.Index(target, kv.Separator)+1:]
	if Moved[kind].due == nil {
		return false, len(raw), nil
	}
	_, due, err := Check(agent.ScopeRow{Key: []byte(kind + rest), Value: raw})
	return err == nil && uint64(due) != when, len(raw), nil // a damaged row keeps its place
}
