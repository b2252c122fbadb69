package memory

import (
	"bytes"

	"dormouse/fsm/kv"
	"dormouse/recall"
	"dormouse/storage"
)

// The first key of agents' totals of memories, and the end of these keys.
var firstTotal, totalsEnd = []byte(kv.KindMemoryAgent), []byte(kv.After(kv.KindMemoryAgent))

// Forgotten returns those of an entry's writes that delete agents' totals of memories: these
// agents have no memories any more.
func Forgotten(writes *storage.Batch) (all []storage.Write, err error) {
	err = writes.Each(func(w storage.Write) {
		one := w.Upper == nil && bytes.HasPrefix(w.Key, firstTotal)
		many := w.Upper != nil && bytes.Compare(w.Key, totalsEnd) < 0 && bytes.Compare(firstTotal, w.Upper) < 0
		if w.Deleted && (one || many) {
			all = append(all, storage.Write{Key: bytes.Clone(w.Key), Upper: bytes.Clone(w.Upper), Deleted: true})
		}
	})
	return all, err
}

// Forget drops the indexes of the agents that an entry has left without memories: their words and
// vectors do not stay in the memory of this node.
func Forget(recalls *recall.Cache, forgotten []storage.Write) {
	for _, w := range forgotten {
		if w.Upper == nil {
			recalls.Drop(string(w.Key))
		} else {
			recalls.DropRange(string(w.Key), string(w.Upper))
		}
	}
}
