package faultstest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dormouse/agent"
)

// segment returns the newest log file that contains text, and the text's offset.
func segment(t *testing.T, p *place, text string) (path string, raw []byte, at int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(p.dir, "raft", "wal", "*.wal"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, path := range slices.Backward(paths) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(raw, []byte(text)); at >= 0 {
			return path, raw, at
		}
	}
	t.Fatalf("no file of the log in %s holds %q", p.dir, text)
	return "", nil, 0
}

// cutLog truncates the log in the middle of entry n.
func cutLog(t *testing.T, p *place, n uint64) {
	t.Helper()
	path, _, at := segment(t, p, payload(n))
	if err := os.Truncate(path, int64(at)); err != nil {
		t.Fatal(err)
	}
}

func TestATornTailThatWasNotAcknowledgedIsDropped(t *testing.T) {
	t.Parallel()
	const written = 100
	for name, tear := range map[string]func(raw []byte, end int) []byte{
		"garbage after the end": func(raw []byte, end int) []byte {
			copy(raw[end:], bytes.Repeat([]byte{0xa5, 0x01, 0x7f}, 300))
			return raw
		},
		"cut off at the end": func(raw []byte, end int) []byte { return raw[:end] },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "n1", "--bootstrap")
			n := p.start(t).ready()
			fill(t, dial(t, p), 0, written)
			n.kill()
			path, raw, _ := segment(t, p, payload(written-1))
			end := len(bytes.TrimRight(raw, "\x00"))
			end += -end & 7 // frames are padded
			if err := os.WriteFile(path, tear(raw, end), 0o600); err != nil {
				t.Fatal(err)
			}
			p.start(t).ready()
			c := dial(t, p)
			if got := count(t, c); got != written {
				t.Fatalf("%d of %d acknowledged entries are left", got, written)
			}
			fill(t, c, written, written+1)
		})
	}
}

func TestALoneNodeWithADamagedLogExitsWithFive(t *testing.T) {
	t.Parallel()
	const written, left = 200, 150
	for name, flushed := range map[string]bool{"the state is behind the damage": false, "the state is ahead of it": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "n1", "--bootstrap")
			n := p.start(t).ready()
			c := dial(t, p)
			fill(t, c, 0, written)
			if flushed { // a backup flushes the engine
				if err := c.Backup(t.Context(), io.Discard); err != nil {
					t.Fatal(err)
				}
			}
			n.stop()
			cutLog(t, p, left)
			p.start(t).exits(5, "damaged", "--accept-damage", "restore a backup")
			p.start(t).exits(5, "damaged") // a second start does not repair it

			n = p.start(t, "--accept-damage").ready()
			c = dial(t, p)
			got := count(t, c) // a prefix of the entries; else count fails
			if want := uint64(written); flushed && got != want || got < left {
				t.Fatalf("%d entries are left, want %d", got, want)
			}
			fill(t, c, got, got+20)
			n.stop()
			p.start(t).ready() // the node is healthy from now on
			if again := count(t, dial(t, p)); again != got+20 {
				t.Fatalf("%d entries after a restart, want %d", again, got+20)
			}
		})
	}
}

func TestDamageInTheMiddleExitsWithFive(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, p *place){
		"a flipped bit in an entry": func(t *testing.T, p *place) {
			t.Helper()
			path, raw, at := segment(t, p, payload(50))
			raw[at+8] ^= 1
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a stable store of garbage": func(t *testing.T, p *place) {
			t.Helper()
			garbage := bytes.Repeat([]byte("garbage!"), 8<<10)
			if err := os.WriteFile(filepath.Join(p.dir, "raft", "stable.db"), garbage, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no stable store": func(t *testing.T, p *place) {
			t.Helper()
			if err := os.Remove(filepath.Join(p.dir, "raft", "stable.db")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "n1", "--bootstrap")
			n := p.start(t).ready()
			fill(t, dial(t, p), 0, 100)
			n.kill() // the state was not flushed: the whole log is needed
			damage(t, p)
			p.start(t).exits(5, "damaged", "restore a backup")
		})
	}
}

// first returns the first file in a data directory that matches pattern.
func first(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	return paths[0]
}

// spoilt returns a copy of the data directory whole with one file changed by way. If
// way returns nil, the file is removed.
func spoilt(t *testing.T, whole, file string, way func(raw []byte) []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	path := first(t, dir, file)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if raw = way(raw); raw == nil {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each file that a node needs, truncated, zeroed in the middle, flipped in the middle
// and removed. The unchanged directory still has all entries.
func TestEachDamagedFileExitsWithFiveAndIsNamed(t *testing.T) {
	t.Parallel()
	const written = 100
	p := newPlace(t, "n1", "--bootstrap")
	n := p.start(t).ready()
	c := dial(t, p)
	fill(t, c, 0, written)
	if err := c.Backup(t.Context(), io.Discard); err != nil { // flushes the engine
		t.Fatal(err)
	}
	n.stop()
	whole := p.dir

	cut := func(raw []byte) []byte { return raw[:len(raw)/2] }
	zero := func(raw []byte) []byte { clear(raw[len(raw)/4 : 3*len(raw)/4]); return raw }
	flip := func(raw []byte) []byte { raw[len(raw)/2] ^= 4; return raw }
	gone := func([]byte) []byte { return nil }
	empty := func([]byte) []byte { return []byte{} }
	behead := func(raw []byte) []byte { clear(raw[:len(raw)/2]); return raw }
	for file, ways := range map[string]map[string]func([]byte) []byte{
		"raft/stable.db":                   {"cut": cut, "zeroed": zero, "gone": gone},
		"raft/wal/wal-meta.db":             {"cut": cut, "zeroed": zero, "gone": gone},
		"state/CURRENT":                    {"cut": cut, "zeroed": zero, "flipped": flip, "gone": gone},
		"state/engine-*/*.sst":             {"cut": cut, "zeroed": zero, "gone": gone},
		"state/engine-*/MANIFEST-*":        {"empty": empty, "beheaded": behead, "gone": gone},
		"state/engine-*/marker.manifest.*": {"gone": gone},
	} {
		for name, way := range ways {
			t.Run(filepath.Base(file)+" "+name, func(t *testing.T) {
				p.dir = spoilt(t, whole, file, way)
				p.start(t).exits(5, "damaged", p.dir, "restore a backup")
			})
		}
	}
	p.dir = whole
	p.start(t).ready()
	if got := count(t, dial(t, p)); got != written {
		t.Errorf("%d of %d entries are left in the directory as it was", got, written)
	}
}

// A crash may tear the last edit of an engine's manifest, so a torn edit is not
// damage. The log has the data that the engine loses by it.
func TestATornManifestLosesNothing(t *testing.T) {
	t.Parallel()
	const written = 100
	for name, tear := range map[string]func(raw []byte) []byte{
		"cut":     func(raw []byte) []byte { return raw[:len(raw)-1] },
		"flipped": func(raw []byte) []byte { raw[len(raw)-1] ^= 4; return raw },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "n1", "--bootstrap")
			n := p.start(t).ready()
			c := dial(t, p)
			fill(t, c, 0, written)
			if err := c.Backup(t.Context(), io.Discard); err != nil { // flushes the engine: the last edit
				t.Fatal(err)
			}
			n.stop()
			p.dir = spoilt(t, p.dir, "state/engine-*/MANIFEST-*", tear)
			p.start(t).ready()
			if got := count(t, dial(t, p)); got != written {
				t.Errorf("%d of %d acknowledged entries are left", got, written)
			}
		})
	}
}

// trio starts three nodes that all vote.
func trio(t *testing.T) (places []*place, nodes []*process) {
	t.Helper()
	places = []*place{newPlace(t, "n1", "--bootstrap")}
	for _, name := range []string{"n2", "n3"} {
		places = append(places, newPlace(t, name, "--join", places[0].raft))
	}
	for _, p := range places {
		nodes = append(nodes, p.start(t))
	}
	vote(t, places, nodes)
	return places, nodes
}

// vote waits until all nodes are ready and vote.
func vote(t *testing.T, places []*place, nodes []*process) {
	t.Helper()
	for _, n := range nodes {
		n.ready()
	}
	c := dial(t, places...)
	nodes[0].await("three voters", func() bool {
		s, err := c.Status(t.Context())
		voters := 0
		for _, m := range s.Members {
			if m.Voter {
				voters++
			}
		}
		return err == nil && voters == len(places)
	})
}

func TestADamagedNodeOfThreeHealsBeforeItVotes(t *testing.T) {
	t.Parallel()
	places, nodes := trio(t)
	c := dial(t, places...)
	fill(t, c, 0, 200)
	third := dial(t, places[2])
	nodes[2].await("n3 to have it all", func() bool {
		answers, err := third.Read(t.Context(), agent.Reads{Stale: true, Reads: []agent.Read{&agent.GetThread{Thread: journal}}})
		if err != nil || answers.Answers[0].Err != nil {
			return false
		}
		return answers.Answers[0].Found.(*agent.Thread).Rev == 200
	})
	nodes[2].stop()
	cutLog(t, places[2], 150)
	fill(t, dial(t, places[:2]...), 200, 250)

	nodes[2] = places[2].start(t)
	nodes[2].await("the damage to be found", func() bool { return has(nodes[2], "does not vote until") })
	nodes[2].await("it to heal", func() bool { return has(nodes[2], "it votes again") })
	vote(t, places, nodes)
	for _, p := range places {
		if got := count(t, dial(t, p)); got != 250 {
			t.Errorf("%s has %d of 250 entries", p.name, got)
		}
	}
	// The healed node's vote counts again: without n1, two of three need it.
	nodes[0].kill()
	fill(t, dial(t, places[1:]...), 250, 260)
	if got := count(t, dial(t, places[2])); got != 260 {
		t.Errorf("n3 has %d of 260 entries", got)
	}
}
