package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dormouse/audit"
)

// seqs returns the seqs of the lines on all pages of the newest records.
func seqs(tb testing.TB, dir string, limit int) (all []uint64) {
	tb.Helper()
	for before := uint64(0); ; {
		page, next, err := audit.Recent(dir, before, limit)
		if err != nil {
			tb.Fatal(err)
		}
		for _, line := range page {
			all = append(all, line.Seq)
		}
		if next == 0 {
			return all
		}
		if before != 0 && next >= before {
			tb.Fatalf("the page before %d is followed by the page before %d", before, next)
		}
		before = next
	}
}

// Pages of the newest records go back to the oldest one, over all files, each record once.
func TestRecentRecordsArePaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, options(dir))
	var want []uint64
	for i := range 100 {
		if _, err := s.put(audit.Record{Kind: audit.KindAdmin, Action: fmt.Sprintf("a%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for seq := s.Stats().Last; seq > 0; seq-- {
		want = append(want, seq)
	}
	for _, limit := range []int{1, 7, 100, 1000} {
		if got := seqs(t, dir, limit); !slices.Equal(got, want) {
			t.Errorf("limit %d: seqs %v", limit, got)
		}
	}
	if _, _, err := audit.Recent(t.TempDir(), 0, 7); err == nil {
		t.Error("an empty directory is a log")
	}
}

// The pages end with the oldest line that the log has.
func TestRecentRecordsEndWhereFilesWereRemoved(t *testing.T) {
	o := options(t.TempDir())
	o.Files = 2
	s := open(t, o)
	s.fill(100)
	first := records(t, o.Dir)[0].Seq
	if got := seqs(t, o.Dir, 7); first == 1 || got[len(got)-1] != first || uint64(len(got)) != s.Stats().Last-first+1 {
		t.Errorf("%d records to seq %d, and the log begins with %d", len(got), got[len(got)-1], first)
	}
}

// A damaged line is missing on its page. All others are there.
func TestRecentRecordsLeaveOutDamagedLines(t *testing.T) {
	for name, damage := range map[string]func(line string) string{
		"another character": func(line string) string { return strings.Replace(line, `"seq"`, `"seq`, 1) },
		"an empty line":     func(string) string { return "\n" },
		"no hash":           func(string) string { return "{}\n" },
		"a very long line":  func(string) string { return strings.Repeat("x", 200<<10) + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, options(dir))
			s.fill(30)
			last := s.Stats().Last
			s.end()
			var want []uint64
			for seq := last; seq > 0; seq-- {
				want = append(want, seq)
			}
			for _, path := range files(t, dir) { // in each file its third line
				all := lines(t, path)
				if len(all) < 4 {
					continue
				}
				var seq uint64
				if _, err := fmt.Sscanf(all[2], `{"seq":%d,`, &seq); err != nil {
					t.Fatal(err)
				}
				all[2] = damage(all[2])
				write(t, path, strings.Join(all, "")+"\n")
				want = slices.DeleteFunc(want, func(s uint64) bool { return s == seq })
			}
			if uint64(len(want)) == last {
				t.Fatal("no line is damaged")
			}
			for _, limit := range []int{1, 7, 1000} {
				if got := seqs(t, dir, limit); !slices.Equal(got, want) {
					t.Errorf("limit %d: seqs %v, want %v", limit, got, want)
				}
			}
		})
	}
}
