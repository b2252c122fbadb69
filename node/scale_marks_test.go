package node_test

import (
	"fmt"
	"testing"
)

// mark is what a turn leaves in its instance's thread.
type mark struct {
	N    uint64 `json:"n"`    // of the signal
	Node string `json:"node"` // where it was handled
	Life string `json:"life"` // of the instance there
}

// wrongMarks returns what is wrong with an instance's marks, if anything. Each acknowledged signal
// has left one, in order, and no process of the instance continues after another one has begun.
func wrongMarks(marks []mark, acknowledged uint64) string {
	if uint64(len(marks)) != acknowledged {
		return fmt.Sprintf("%d marks, %d signals were acknowledged", len(marks), acknowledged)
	}
	over, life := map[string]bool{}, ""
	for n, is := range marks {
		if is.N != uint64(n+1) {
			return fmt.Sprintf("mark %d is of signal %d", n+1, is.N)
		}
		if now := is.Node + " " + is.Life; now != life {
			over[life], life = true, now
		}
		if over[life] {
			return fmt.Sprintf("it went on at %s after another owner", life)
		}
	}
	return ""
}

// The check of the load test detects errors.
func TestWhatAnOwnerMayNotDoIsSeenInTheMarks(t *testing.T) {
	a, b, again := mark{Node: "n1", Life: "1"}, mark{Node: "n2", Life: "1"}, mark{Node: "n1", Life: "2"}
	at := func(n uint64, m mark) mark { m.N = n; return m }
	for _, c := range []struct {
		name         string
		marks        []mark
		acknowledged uint64
		wrong        bool
	}{
		{"nothing", nil, 0, false},
		{"one owner after another", []mark{at(1, a), at(2, a), at(3, b), at(4, again)}, 4, false},
		{"a lost one", []mark{at(1, a)}, 2, true},
		{"one that was lost in between", []mark{at(1, a), at(3, a)}, 2, true},
		{"one that was done twice", []mark{at(1, a), at(1, b)}, 1, true},
		{"one that was done twice where another was lost", []mark{at(1, a), at(1, a)}, 2, true},
		{"out of order", []mark{at(2, a), at(1, a)}, 2, true},
		{"an owner that goes on after the next has begun", []mark{at(1, a), at(2, b), at(3, a)}, 3, true},
	} {
		if wrong := wrongMarks(c.marks, c.acknowledged); (wrong != "") != c.wrong {
			t.Errorf("%s: %q", c.name, wrong)
		}
	}
}
