package disk_test

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/jepsen/testbed/disk"
)

// The files of a node that damage may hit, one of each part; and some that it must not
// hit.
var (
	vital = []string{
		"raft/wal/00000000000000000001-0000000000000000.wal",
		"raft/stable.db",
		"raft/wal/wal-meta.db",
		"state/engine-0-1/000004.sst",
		"state/engine-0-1/000005.sst",
		"state/snapshots/3-99/engine/000004.sst",
		"state/snapshots/3-99/header",
	}
	other = []string{"raft/lock", "raft/reserve", "state/FORMAT", "state/engine-0-1/LOCK"}
)

// data is the content of a file with 3,000 bytes, followed by an allocated, unused
// end.
var data = bytes.Repeat([]byte("abc"), 1000)

func nodesData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(append([]string{}, vital...), other...) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), append(bytes.Clone(data), make([]byte, 8<<10)...), 0o600))
	}
	return dir
}

func TestDamageDoesWhatItSays(t *testing.T) {
	for _, kind := range disk.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			dir := nodesData(t)
			hit := map[string]bool{}
			for seed := range uint64(40) {
				did, err := disk.Damage(dir, kind, rand.New(rand.NewPCG(seed, 0)))
				if err != nil {
					t.Fatal(err)
				}
				name := changed(t, dir, kind)
				hit[name] = true
				if !strings.Contains(did, name) {
					t.Errorf("it says %q, and changed %s", did, name)
				}
				must(t, os.WriteFile(filepath.Join(dir, name), append(bytes.Clone(data), make([]byte, 8<<10)...), 0o600))
			}
			if len(hit) != len(vital) {
				t.Errorf("in 40 times it hit but %v", hit)
			}
		})
	}
}

// changed returns the one file that has changed and checks the change.
func changed(t *testing.T, dir string, kind disk.Kind) string {
	t.Helper()
	var found string
	for _, name := range append(append([]string{}, vital...), other...) {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && len(got) == len(data)+8<<10 && bytes.Equal(got[:len(data)], data) {
			continue
		}
		if found != "" {
			t.Fatalf("both %s and %s changed", found, name)
		}
		found = name
		flips := 0
		for i := range min(len(got), len(data)) {
			flips += bits.OnesCount8(got[i] ^ data[i])
		}
		var right bool
		switch kind {
		case disk.BitFlip:
			right = flips == 1 && len(got) > len(data)
		case disk.Truncate:
			right = flips == 0 && err == nil && len(got) < len(data)
		case disk.ZeroRange:
			right = flips > 1 && len(got) > len(data)
		case disk.DeleteFile:
			right = os.IsNotExist(err)
		}
		if !right {
			t.Errorf("%s: %d bits of %d bytes, %v", name, flips, len(got), err)
		}
	}
	if found == "" {
		t.Fatal("nothing changed")
	}
	return found
}

func TestDamageIsRepeatable(t *testing.T) {
	var said []string
	for range 2 {
		did, err := disk.Damage(nodesData(t), disk.BitFlip, rand.New(rand.NewPCG(1, 2)))
		must(t, err)
		said = append(said, did)
	}
	if said[0] != said[1] {
		t.Errorf("%q, and then %q", said[0], said[1])
	}
}

func TestDamageNeedsSomethingToDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	if did, err := disk.Damage(t.TempDir(), disk.BitFlip, r); err == nil {
		t.Errorf("in an empty directory it %s", did)
	}
	if did, err := disk.Damage(nodesData(t), "rot", r); err == nil || !strings.Contains(err.Error(), "bit flip") {
		t.Errorf("an unknown kind: %q, %v", did, err)
	}
}

func TestACloneIsTheSameTree(t *testing.T) {
	from := nodesData(t)
	must(t, os.Link(filepath.Join(from, "raft/stable.db"), filepath.Join(from, "linked")))
	to := filepath.Join(t.TempDir(), "clone")
	must(t, disk.Clone(from, to))
	mustRead(t, filepath.Join(to, vital[0]), string(append(bytes.Clone(data), make([]byte, 8<<10)...)))
	a, err := os.Stat(filepath.Join(to, "linked"))
	must(t, err)
	b, err := os.Stat(filepath.Join(to, "raft/stable.db"))
	must(t, err)
	if !os.SameFile(a, b) {
		t.Error("the hard link is a copy")
	}
	if err := disk.Clone(from, to); err == nil || !strings.Contains(err.Error(), "wipe it") {
		t.Errorf("a clone over another: %v", err)
	}
	must(t, disk.Wipe(to))
	must(t, disk.Clone(from, to))
}

func TestALogLosesItsEnd(t *testing.T) {
	dir := nodesData(t)
	older := filepath.Join(dir, "raft/wal/00000000000000000001-0000000000000000.wal")
	newest := filepath.Join(dir, "raft/wal/00000000000000000002-0000000000000001.wal")
	whole := append(bytes.Clone(data), make([]byte, 8<<10)...)
	for seed := range uint64(20) {
		must(t, os.WriteFile(newest, whole, 0o600))
		did, lost, err := disk.LoseTail(dir, rand.New(rand.NewPCG(seed, 0)))
		if err != nil || !lost || !strings.Contains(did, filepath.Base(newest)) {
			t.Fatalf("%q, %v, %v", did, lost, err)
		}
		left, err := os.ReadFile(newest)
		must(t, err)
		kept := bytes.TrimRight(left, "\x00")
		if len(left) != len(whole) || len(kept) < 512 || len(data)-len(kept) < 512 || !bytes.HasPrefix(data, kept) {
			t.Errorf("%d of %d bytes are left, of %d in the file", len(kept), len(data), len(left))
		}
		if got, err := os.ReadFile(older); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("an older segment was changed: %v", err)
		}
	}
	must(t, os.WriteFile(newest, append(bytes.Repeat([]byte{1}, 1000), make([]byte, 100)...), 0o600))
	if did, lost, err := disk.LoseTail(dir, rand.New(rand.NewPCG(1, 0))); lost || err != nil {
		t.Errorf("of a segment of 1,000 bytes: %q, %v", did, err)
	}
	if _, _, err := disk.LoseTail(t.TempDir(), rand.New(rand.NewPCG(1, 0))); err == nil {
		t.Error("a directory without a log is no error")
	}
}
