package audit_test

import (
	"fmt"
	"testing"

	"dormouse/audit"
)

// Pages of the newest records go back to the oldest one, over all files, each record once.
func TestRecentRecordsArePaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, options(dir))
	var last uint64
	for i := range 100 {
		seq, err := s.put(audit.Record{Kind: audit.KindAdmin, Action: fmt.Sprintf("a%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		last = seq
	}
	want := last
	for before := uint64(0); ; {
		page, err := audit.Recent(dir, before, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page {
			if line.Seq != want {
				t.Fatalf("seq %d, want %d", line.Seq, want)
			}
			want--
		}
		if len(page) < 7 || page[6].Seq == 1 {
			break
		}
		before = page[6].Seq
	}
	if want != 0 {
		t.Errorf("the pages end after seq %d", want+1)
	}
	if _, err := audit.Recent(t.TempDir(), 0, 7); err == nil {
		t.Error("an empty directory is a log")
	}
}
