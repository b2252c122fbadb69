package txn

import (
	"fmt"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// TermStart is the log's time when the leader of a term took over. It restarts the full TTL of all
// claims that were held then: their holders could not renew them without a leader.
type TermStart struct {
	Term uint64
	Tick uint64
}

// TermStartKey is the key of the row that holds the newest term's start.
const TermStartKey = kv.KindSystem + "opening"

// ReadTermStart returns the newest term start in an engine.
func ReadTermStart(r storage.Reader) (TermStart, error) {
	raw, ok, err := r.Get([]byte(TermStartKey))
	if err != nil || !ok {
		return TermStart{}, err
	}
	var p logpb.Opening
	if err := command.Unmarshal(raw, &p); err != nil {
		return TermStart{}, fmt.Errorf("decode the term's opening: %w", err)
	}
	return TermStart{Term: p.Term, Tick: p.Tick}, nil
}
