package txn

import (
	"dormouse/fsm/kv"
	"dormouse/recall"
	"dormouse/storage"
)

// Reader reads one scope, as of one entry.
type Reader struct {
	kv.Reader // rows, from the cache where they are

	Engine   storage.Reader
	Progress Progress
	Scope    string
	Recalls  *recall.Cache
	Hasty    bool // rather recall.ErrTooOld than an index built again
}
