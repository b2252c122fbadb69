package fsm

import (
	"fmt"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// opening is the log's time when the leader of a term took over. All claims
// that stood then have their full ttl from there on: their holders could not
// renew them while nobody led.
type opening struct {
	term uint64
	tick uint64
}

const openingKey = kv.KindSystem + "opening"

// readOpening is the newest opening in an engine.
func readOpening(r storage.Reader) (opening, error) {
	raw, ok, err := r.Get([]byte(openingKey))
	if err != nil || !ok {
		return opening{}, err
	}
	var p logpb.Opening
	if err := command.Unmarshal(raw, &p); err != nil {
		return opening{}, fmt.Errorf("decode the term's opening: %w", err)
	}
	return opening{term: p.Term, tick: p.Tick}, nil
}
