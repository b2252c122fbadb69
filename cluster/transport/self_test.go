package transport

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

func TestANewerFormatIsRefused(t *testing.T) {
	stable := raft.NewInmemStore()
	if _, err := LoadSelf("n1", stable); err != nil {
		t.Fatal(err)
	}
	if format, err := stable.GetUint64(keyFormat); err != nil || format != storesFormat {
		t.Fatalf("format %d, %v", format, err)
	}
	if err := stable.SetUint64(keyFormat, storesFormat+1); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSelf("n1", stable); !errors.Is(err, raftlog.ErrForeign) {
		t.Errorf("got %v", err)
	}
}

// Adopt marks the state before the log. A crash in between leaves a mark
// that the next attempt repeats, and never state without an owner.
func TestAClusterIsNotAdoptedWhereTheStateIsAnothers(t *testing.T) {
	stable := raft.NewInmemStore()
	id, err := LoadSelf("n1", stable)
	if err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("the state is another's")
	id.claim = func(string) error { return refusal }
	if err := id.Adopt("c1"); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if got, err := raftlog.GetString(stable, keyClusterID); got != "" || err != nil {
		t.Errorf("adopted %q, %v", got, err)
	}
}
