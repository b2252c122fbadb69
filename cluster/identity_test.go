package cluster

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

func TestANewerFormatIsRefused(t *testing.T) {
	stable := raft.NewInmemStore()
	if _, err := loadIdentity("n1", stable); err != nil {
		t.Fatal(err)
	}
	if format, err := stable.GetUint64(keyFormat); err != nil || format != storesFormat {
		t.Fatalf("format %d, %v", format, err)
	}
	if err := stable.SetUint64(keyFormat, storesFormat+1); err != nil {
		t.Fatal(err)
	}
	if _, err := loadIdentity("n1", stable); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v", err)
	}
}

// The state must be marked before the log is: a crash in between leaves a mark
// that the next attempt repeats, never state that nobody owns.
func TestAClusterIsNotAdoptedWhereTheStateIsAnothers(t *testing.T) {
	stable := raft.NewInmemStore()
	id, err := loadIdentity("n1", stable)
	if err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("the state is another's")
	id.claim = func(string) error { return refusal }
	if err := id.adopt("c1"); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if got, err := stableGet(stable, keyClusterID); got != "" || err != nil {
		t.Errorf("adopted %q, %v", got, err)
	}
}
