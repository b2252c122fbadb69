package descriptors_test

import (
	"os"
	"testing"

	"dormouse/internal/descriptors"
)

func TestOpenCountsFiles(t *testing.T) {
	before, err := descriptors.Open()
	if err != nil {
		t.Skip(err)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if after, err := descriptors.Open(); err != nil || after != before+1 {
		t.Errorf("%d descriptors, then %d with one more file (%v)", before, after, err)
	}
}

func TestEngineFilesAreAQuarter(t *testing.T) {
	for limit, want := range map[int]int{0: 4096, 256: 64, 1024: 256, 1 << 20: 4096} {
		if got := descriptors.EngineFiles(limit, 4096); got != want {
			t.Errorf("EngineFiles(%d) is %d, want %d", limit, got, want)
		}
	}
	if descriptors.Limit() < descriptors.Least {
		t.Errorf("the limit of this process is %d", descriptors.Limit())
	}
}

func TestAGuardWithRoomDoesNotWait(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	if !descriptors.NewGuard().Room(closed) {
		t.Error("there is no room")
	}
}
