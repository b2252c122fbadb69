package txn

import (
	"dormouse/fsm/kv"
	"dormouse/recall"
	"dormouse/storage"
)

// Reader reads one scope at one entry.
type Reader struct {
	kv.Reader // rows, from the cache if they are there

	Engine    storage.Reader
	Tails     Tails // nil if they are not cached
	Progress  Progress
	Scope     string
	Recalls   recall.Reader
	Deletions *Deletions // under way
	Hasty     bool       // return recall.ErrTooOld instead of rebuilding an index
}

// Tails is a cache of the tails of threads, by the keys of their rows.
type Tails interface {
	// Tail returns a tail, if it is cached. The thread's incarnation may be another.
	Tail(key string) (tail kv.Tail, ok bool)
	// KeepTail adds what kv.TailWriter.End(key) has returned.
	KeepTail(key string, piece []byte)
}
