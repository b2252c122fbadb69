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
	Progress  Progress
	Scope     string
	Recalls   *recall.Cache
	Deletions *Deletions // under way
	Hasty     bool       // return recall.ErrTooOld instead of rebuilding an index
}
