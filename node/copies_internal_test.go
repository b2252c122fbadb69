package node

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"dormouse/backup/schedule"
	"dormouse/fsm"
	"dormouse/storage"
)

// A copy for which the disk has no room is refused before anything of it is written, and leaves nothing.
func TestARehearsalNeedsRoomForTheState(t *testing.T) {
	dir, read := t.TempDir(), new(bytes.Buffer)
	h := rehearsal{within: dir, room: func() (int64, error) { return 1 << 30, nil }}
	err := h.run(io.TeeReader(strings.NewReader("a state"), read), 1<<30+1, func(*fsm.Replica) error { return nil })
	if !errors.Is(err, schedule.ErrNoRoom) || !strings.Contains(err.Error(), "1073741825 more bytes") || read.Len() > 0 {
		t.Errorf("%d bytes were read: %v", read.Len(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// The disk may fill while a copy is written.
func TestARehearsalStopsWhenTheRoomGoes(t *testing.T) {
	const total = 5 * roomEvery
	free, broken := int64(total), errors.New("the disk does not answer")
	var failed error
	r := &roomReader{r: strings.NewReader(strings.Repeat("x", total+1)), left: total, room: func() (int64, error) { return free, failed }}
	read := func(n int64) error {
		got, err := io.CopyN(io.Discard, r, n)
		free -= got
		return err
	}
	if err := read(2 * roomEvery); err != nil {
		t.Fatal(err)
	}
	free--
	if err := read(1); !errors.Is(err, schedule.ErrNoRoom) {
		t.Errorf("with too little for the rest: %v", err)
	}
	free++
	if err := read(2 * roomEvery); err != nil {
		t.Errorf("with room again: %v", err)
	}
	failed = broken
	if err := read(roomEvery); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	failed, free = nil, roomEvery-1 // less than the node writes until the next question, though less is expected
	if err := read(roomEvery); !errors.Is(err, schedule.ErrNoRoom) {
		t.Errorf("at the end: %v", err)
	}
}

// The caches of a copy come on top of those of the node, which use what they may.
func TestTheCachesOfARehearsalAreSmall(t *testing.T) {
	m, err := fsm.Open(fsm.Options{Dir: "m", FS: storage.MemFS()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // it is in memory
	var state bytes.Buffer
	if err := m.WriteBackup(&state); err != nil {
		t.Fatal(err)
	}
	err = rehearsal{}.run(&state, int64(state.Len()), func(r *fsm.Replica) error {
		_, limits, _ := fsm.CachesOf(r.Machine)
		if sum := limits.Engine + limits.ApplyRows + limits.ReadRows + limits.Indexes; sum == 0 || sum > 9<<20 {
			t.Errorf("the caches may have %d bytes: %+v", sum, limits)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
