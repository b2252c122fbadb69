package instance

import (
	"testing"

	"dormouse/agent"
)

// Two reads of a manager may be answered in another order than they were made, by different nodes.
func TestAnOlderRowOfAManagerChangesNothing(t *testing.T) {
	tb := newTable(&shared{}, nil)
	ms := &managerState{scope: "s", name: "m", instances: map[string]*instance{}}
	for _, c := range []struct {
		what                         string
		index, incarnation, revision uint64
		version, want                uint64 // of the state, as the row has it and as the host then knows it
	}{
		{"the first row", 5, 2, 3, 1, 1},
		{"an older revision", 4, 2, 2, 2, 1},
		{"a newer revision of an older incarnation", 4, 1, 9, 3, 1},
		{"the same row", 6, 2, 3, 4, 1},
		{"a newer revision", 7, 2, 4, 5, 5},
		{"a newer incarnation", 8, 3, 1, 6, 6},
		{"an older revision, of an import", 9, 3, 0, 7, 7},
		{"an older incarnation, of an import", 10, 1, 2, 8, 8},
		{"the row before it", 9, 3, 0, 7, 8},
	} {
		found := &agent.Manager{Name: "m", Version: c.version, Incarnation: c.incarnation, Revision: c.revision}
		got, err := tb.updateManager(ms, agent.Answers{Index: c.index, Answers: []agent.Answer{{Found: found}}})
		if err != nil || got.config.Version != c.want {
			t.Errorf("%s: %v, version %d, want %d", c.what, err, got.config.Version, c.want)
		}
	}
}
