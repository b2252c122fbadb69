package fsm

import (
	"dormouse/fsm/kv"
	"dormouse/recall"
	"dormouse/storage"
)

// reader reads one scope, as of one entry.
type reader struct {
	kv.Reader // rows, from the cache where they are

	engine   storage.Reader
	progress progress
	scope    string
	recalls  *recall.Cache
	hasty    bool // rather recall.ErrPast than an index built again
}
