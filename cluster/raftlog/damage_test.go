package raftlog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// harm is a way in which a file gets lost or changed.
type harm struct {
	name string
	do   func(path string) error
}

func cutAt(share float64) harm {
	return harm{"cut", func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, int64(share*float64(info.Size())))
	}}
}

// zeroed takes away all places of text, and what is around them.
func zeroed(text string, around int) harm {
	return harm{"zeroed", func(path string) error {
		return rewrite(path, text, func(raw []byte, at int) { clear(raw[max(0, at-around):min(len(raw), at+around)]) })
	}}
}

// flipped turns over a bit in all places of text: bbolt leaves old pages about.
func flipped(text string) harm {
	return harm{"flipped", func(path string) error {
		return rewrite(path, text, func(raw []byte, at int) { raw[at+len(text)/2] ^= 1 })
	}}
}

func rewrite(path, text string, change func(raw []byte, at int)) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	whole, found := bytes.Clone(raw), false
	for from := 0; ; found = true {
		at := bytes.Index(whole[from:], []byte(text))
		if at < 0 {
			break
		}
		change(raw, from+at)
		from += at + len(text)
	}
	if !found {
		return errors.New(path + " does not hold " + text)
	}
	return os.WriteFile(path, raw, 0o600)
}

var gone = harm{"gone", os.Remove}

// Each harm to what a node's log and stable store are made of, in the middle:
// what was acknowledged is behind it. An end that is missing is for the
// high-water mark.
func TestDamageIsRefusedByNameAndNothingIsLostByIt(t *testing.T) {
	const entries = 1000
	small := func(o *Options) { o.SegmentBytes = 16 << 10 }
	dir := t.TempDir()
	s, _, err := diskStores(t, dir, "", small)
	if err != nil {
		t.Fatal(err)
	}
	for index := uint64(1); index <= entries; index += 10 {
		if err := s.Logs.StoreLogs(commands(index, index+9)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	first, _, _ := segment(t, dir, "payload of entry 000001")
	middle, _, _ := segment(t, dir, "payload of entry 000400")
	last, _, _ := segment(t, dir, "payload of entry 001000")
	if middle == first || middle == last {
		t.Fatalf("the log has no middle segment: %s, %s, %s", first, middle, last)
	}
	middle, err = filepath.Rel(dir, middle)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		file  string
		names string // what the message names
		harms []harm
	}{
		{"stable.db", "stable.db", []harm{cutAt(0.6), zeroed("dormouse/high-water", 2000), flipped("dormouse/high-water"), flipped("conf"), gone}},
		{"wal/wal-meta.db", "wal/wal-meta.db", []harm{cutAt(0), cutAt(0.6), zeroed(`"NextSegmentID"`, 2000), flipped(`"NextSegmentID"`), flipped("wal-meta"), gone}},
		{middle, middle, []harm{cutAt(0), cutAt(0.4), gone}},
		{middle, "wal", []harm{zeroed("payload of entry 000400", 1), zeroed("payload of entry 000400", 100), flipped("payload of entry 000400")}},
	} {
		for _, h := range c.harms {
			t.Run(filepath.Base(c.file)+" "+h.name, func(t *testing.T) {
				image := crashImage(t, dir)
				if err := h.do(filepath.Join(image, c.file)); err != nil {
					t.Fatal(err)
				}
				want := filepath.Join(image, c.names)
				for range 2 { // it does not heal by asking twice
					_, _, err := diskStores(t, image, "", small)
					if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Rebuild) {
						t.Fatalf("got %v; want it damaged, %q named, and what to do", err, want)
					}
				}
				// With the file as it was everything is there.
				raw, err := os.ReadFile(filepath.Join(dir, c.file))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(image, c.file), raw, 0o600); err != nil {
					t.Fatal(err)
				}
				s, _, err := diskStores(t, image, "", small)
				if err != nil {
					t.Fatalf("with the damage undone: %v", err)
				}
				if first, last, err := span(s.Logs); err != nil || first != 1 || last != entries || !s.Mark.Whole() {
					t.Errorf("with the damage undone: the log goes from %d to %d, %v", first, last, err)
				}
			})
		}
	}
}

// A node without its stable store does not know how it voted, also where its
// log is empty because a snapshot has taken its place.
func TestAStateWithoutItsStableStoreIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"a state":    func(o *Options) { o.Applied = func() uint64 { return 7 } },
		"a snapshot": func(o *Options) { o.Snapshots = &snapshotAt{index: 100, term: 2} },
	} {
		if _, _, err := diskStores(t, t.TempDir(), "", change); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "stable.db") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a crash leaves of a list of segments is older than no segment.
func TestASegmentThatIsOnlyListedIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	s, _ := mustDiskStores(t, dir, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "wal", "*.wal"))
	if err != nil || len(files) != 1 {
		t.Fatalf("segments %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	s, _ = mustDiskStores(t, dir, "")
	if err := s.Logs.StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogNoop}); err != nil {
		t.Error(err)
	}
}
