package fsm

import (
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// What the tests look at from outside.

const MintsMax = txn.MintsMax

// HotRows returns the size of the apply cache, and WarmRows that of the read cache.
func (m *Machine) HotRows() int { return m.hot.Len() }

func (m *Machine) WarmRows() int { return m.gen.warm.Len() }

// ReadsAlike reports whether a value's row in the read cache, if it is there (hit is 1), equals the
// engine's.
func (v *View) ReadsAlike(scope, key string) (same bool, hit int) {
	for _, kind := range []string{kv.KindValue, kv.KindValueBytes} {
		row := kv.IDKey(kind, scope, key)
		cached, ok := v.gen.warm.Get(row, v.progress.Index)
		if ok {
			hit = 1
		} else if _, err := v.Get(row); err != nil {
			return false, hit
		}
		stored, found, err := v.view.Get([]byte(row))
		if err != nil || ok && (!found || string(stored) != string(cached)) {
			return false, hit
		}
	}
	return true, hit
}

// HasTail reports whether a thread's tail is in the read cache.
func (v *View) HasTail(scope, thread string) bool {
	_, ok := v.Tail(kv.IDKey(kv.KindThread, scope, thread))
	return ok
}
