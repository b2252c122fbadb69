package fsm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dormouse/fsm"
	"dormouse/storage"
)

func TestRowsOfAnotherFormatAreRefused(t *testing.T) {
	r := newSubject(t)
	r.batch()
	key, raw, err := r.machine.ProgressRow()
	if err != nil || len(raw) == 0 {
		t.Fatal(raw, err)
	}
	engine, err := storage.Open("e", storage.Options{FS: storage.MemFS()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close() //nolint:errcheck // of a test
	for _, c := range []struct {
		by   int
		want string
	}{{0, ""}, {1, "newer version"}, {-1, "an empty data directory"}} {
		other := slices.Clone(raw)
		other[0] = byte(int(other[0]) + c.by)
		b := engine.NewBatch()
		b.Set(key, other)
		if err := engine.Commit(b); err != nil {
			t.Fatal(err)
		}
		b.Close()
		switch err := fsm.CheckFormat(engine); {
		case c.by == 0 && err != nil:
			t.Errorf("the format of now: %v", err)
		case c.by != 0 && (!errors.Is(err, storage.ErrForeign) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("a format %+d: %v", c.by, err)
		}
	}
}
