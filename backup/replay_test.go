package backup_test

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"pgregory.net/rapid"

	"dormouse/backup"
)

// last returns the position of the last entry at or before a target.
func (d *destination) last(target backup.Target) (index uint64, chain uint32) {
	index = 10
	for _, e := range d.log {
		if target.Index > 0 && e.Index > target.Index || target.Time > 0 && e.time > target.Time {
			break
		}
		index, chain = e.Index, e.chain
	}
	return index, chain
}

// drawn returns a destination with a random log, in random and overlapping segments, and with backups.
func drawn(t *testing.T, rt *rapid.T) *destination {
	t.Helper()
	d := newDestination(t)
	n := rapid.IntRange(1, 30).Draw(rt, "entries")
	d.write(n)
	d.backUp(t, 0)
	for i := 0; i < n; {
		from := i - rapid.IntRange(0, min(i, 3)).Draw(rt, "overlap")
		i = rapid.IntRange(i+1, n).Draw(rt, "end")
		d.ship(t, rapid.SampledFrom([]string{"n1", "n2"}).Draw(rt, "node"), from, i)
		if rapid.IntRange(0, 3).Draw(rt, "backup") == 0 {
			d.backUp(t, i)
		}
	}
	return d
}

func drawnTarget(rt *rapid.T, d *destination) backup.Target {
	switch rapid.IntRange(0, 2).Draw(rt, "kind") {
	case 0:
		return backup.Target{Index: rapid.Uint64Range(10, d.log[len(d.log)-1].Index).Draw(rt, "index")}
	case 1:
		return backup.Target{Time: d.log[0].time + rapid.Int64Range(0, 400).Draw(rt, "time")}
	}
	return backup.Target{}
}

// A restore ends exactly at its target. An instant at or after the end of the log is refused.
func TestARestoreEndsAtItsTarget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(t, rt)
		target := drawnTarget(rt, d)
		m, err := d.restore(t, target)
		if target.Time >= d.log[len(d.log)-1].time {
			if err == nil || !strings.Contains(err.Error(), "the shipped log ends at entry") {
				rt.Fatalf("a restore to %v after the end of the log: %v", target, err)
			}
			return
		}
		if err != nil {
			rt.Fatalf("restore to %v: %v", target, err)
		}
		if index, chain := d.last(target); m.index != index || m.chain != chain {
			rt.Fatalf("a restore to %v ends at entry %d with chain %08x, want %d with %08x", target, m.index, m.chain, index, chain)
		}
	})
}

// Whatever happens to one object, a restore fails or gives the same state: never another one.
func TestDamageIsNeverAShorterHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(t, rt)
		target := drawnTarget(rt, d)
		good, whole := d.restore(t, target)
		files := d.objects(t)
		file := rapid.SampledFrom(files).Draw(rt, "object")
		raw, err := os.ReadFile(file)
		if err != nil {
			rt.Fatal(err)
		}
		how := rapid.SampledFrom([]string{"remove", "truncate", "flip", "swap"}).Draw(rt, "damage")
		switch how {
		case "remove":
			err = os.Remove(file)
		case "truncate":
			err = os.WriteFile(file, raw[:rapid.IntRange(0, len(raw)-1).Draw(rt, "length")], 0o600)
		case "flip":
			raw[rapid.IntRange(0, len(raw)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			err = os.WriteFile(file, raw, 0o600)
		case "swap":
			var other []byte
			if other, err = os.ReadFile(rapid.SampledFrom(files).Draw(rt, "other")); err == nil {
				err = os.WriteFile(file, other, 0o600)
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
		m, err := d.restore(t, target)
		if err != nil {
			return
		}
		if whole != nil || m.index != good.index || m.chain != good.chain {
			rt.Fatalf("after %s of %s a restore to %v ends at entry %d, want %+v, %v", how, filepath.Base(file), target, m.index, good, whole)
		}
	})
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, d *destination, segments []backup.SegmentRef)
		at   backup.Target
		says string
	}{
		"a segment is missing": {func(t *testing.T, d *destination, segments []backup.SegmentRef) {
			t.Helper()
			remove(t, d, segments[1])
		}, backup.Target{}, "missing: no segment holds them; a restore up to entry 17 "},
		"the last segment is missing": {func(t *testing.T, d *destination, segments []backup.SegmentRef) {
			t.Helper()
			remove(t, d, segments[2])
		}, backup.Target{}, "were shipped, and their segments are missing: choose --at"},
		"the index is too high":    {nothing, backup.Target{Index: 1000}, "the shipped log ends at entry 32, before entry 1000"},
		"the instant is too late":  {nothing, backup.Target{Time: 1_800_000_000_000}, "choose --at 32, or an earlier instant"},
		"the instant is too early": {nothing, backup.Target{Time: 1_600_000_000_000}, "the oldest backup"},
		"another key":              {func(_ *testing.T, d *destination, _ []backup.SegmentRef) { d.Trust = backup.Trust{} }, backup.Target{}, "not signed by a trusted key"},
		"no head":                  {func(t *testing.T, d *destination, _ []backup.SegmentRef) { t.Helper(); drop(t, d, "head.json") }, backup.Target{}, "head.json is missing"},
		"no head of one segment": {func(t *testing.T, d *destination, segments []backup.SegmentRef) {
			t.Helper()
			drop(t, d, "head.json")
			remove(t, d, segments[1])
			remove(t, d, segments[2])
		}, backup.Target{}, "head.json is missing"},
		"no backup":                     {func(t *testing.T, d *destination, _ []backup.SegmentRef) { t.Helper(); drop(t, d, "manifest.json") }, backup.Target{}, "there is no whole backup"},
		"a manifest of another cluster": {func(_ *testing.T, d *destination, _ []backup.SegmentRef) { d.Cluster = "c-2" }, backup.Target{}, "there is no whole backup of cluster c-2"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDestination(t)
			d.write(15)
			d.backUp(t, 0)
			segments := []backup.SegmentRef{d.ship(t, "n1", 0, 5), d.ship(t, "n1", 5, 10), d.ship(t, "n1", 10, 15)}
			c.do(t, d, segments)
			if _, err := d.restore(t, c.at); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

// A segment that cannot be used does not hide others with the same entries.
func TestASegmentThatCannotBeUsedIsReplacedByThoseThatOverlapIt(t *testing.T) {
	d := newDestination(t)
	d.write(15)
	d.backUp(t, 0)
	d.ship(t, "n1", 0, 6)
	whole := d.objects(t)
	d.ship(t, "n2", 0, 15)
	for _, file := range d.objects(t) {
		if filepath.Base(file) != "head.json" && !slices.Contains(whole, file) {
			if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := d.restore(t, backup.Target{}); err == nil {
		t.Error("a restore ends before the damaged entries")
	}
	d.ship(t, "n3", 4, 15)
	if m, err := d.restore(t, backup.Target{}); err != nil || len(m.applied) != 15 {
		t.Errorf("%+v, %v, want all 15 entries", m, err)
	}
}

func nothing(*testing.T, *destination, []backup.SegmentRef) {}

func remove(t *testing.T, d *destination, s backup.SegmentRef) {
	t.Helper()
	if err := d.DeleteSegment(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// drop removes the files of a name.
func drop(t *testing.T, d *destination, name string) {
	t.Helper()
	for _, file := range d.objects(t) {
		if filepath.Base(file) == name {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What is encrypted needs an identity of a recipient, and shows nothing of its content.
func TestEncryptedObjectsNeedAnIdentity(t *testing.T) {
	classic, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.ParseRecipients([]string{classic.Recipient().String(), hybrid.Recipient().String()}); err == nil {
		t.Error("recipients of both kinds are accepted")
	}
	for name, key := range map[string]struct{ secret, public string }{
		"x25519": {classic.String(), classic.Recipient().String()},
		"hybrid": {hybrid.String(), hybrid.Recipient().String()},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDestination(t)
			if d.to, err = backup.ParseRecipients([]string{key.public}); err != nil {
				t.Fatal(err)
			}
			witnessed, witness, err := d.to.WithWitness()
			if err != nil {
				t.Fatal(err)
			}
			plain := d.to
			d.to = witnessed
			d.write(10)
			d.backUp(t, 0)
			d.to = plain
			d.ship(t, "n1", 0, 10)
			for _, file := range d.objects(t) {
				if raw, err := os.ReadFile(file); err != nil || bytes.Contains(raw, []byte("entry ")) {
					t.Errorf("%s shows an entry, %v", file, err)
				}
			}
			if _, err := d.restore(t, backup.Target{}); err == nil || !strings.Contains(err.Error(), "--identity") {
				t.Errorf("without an identity: %v", err)
			}
			file := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(file, []byte(key.secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if d.Identities, err = backup.ReadIdentities([]string{file}); err != nil {
				t.Fatal(err)
			}
			if m, err := d.restore(t, backup.Target{}); err != nil || len(m.applied) != 10 {
				t.Errorf("with the identity: %+v, %v", m, err)
			}
			d.Identities = witness // it is only of the backup itself
			if _, err := d.restore(t, backup.Target{Index: 10}); err != nil {
				t.Errorf("the witness cannot read the backup: %v", err)
			}
			if _, err := d.restore(t, backup.Target{}); err == nil {
				t.Error("the witness of a backup reads the log")
			}
		})
	}
}

func TestKeysAreText(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	key, err := backup.ParseKey(" " + backup.EncodeKey(public) + "\n")
	if err != nil || !bytes.Equal(key, public) {
		t.Errorf("%x, %v", key, err)
	}
	for _, wrong := range []string{"", "dormpub_", "dormkey_abc", backup.EncodeKey(public) + "A"} {
		if _, err := backup.ParseKey(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestTargetsAreText(t *testing.T) {
	for text, want := range map[string]backup.Target{
		"": {}, "latest": {}, "12": {Index: 12}, "2026-11-25T13:30:00Z": {Time: 1795613400000}, "2026-11-25T14:30:00.5+01:00": {Time: 1795613400500},
	} {
		if got, err := backup.ParseTarget(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, wrong := range []string{"0", "-1", "yesterday", "2026-11-25", "1900-01-01T00:00:00Z"} {
		if _, err := backup.ParseTarget(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// wrongAt computes a wrong chain at one entry.
type wrongAt struct {
	*machine
	entry uint64
}

func (w *wrongAt) Replay(index, term uint64, data []byte) error {
	err := w.machine.Replay(index, term, data)
	if index == w.entry {
		w.chain++
	}
	return err
}

// A state that is not that of the manifest, or that becomes another than that of the log, is refused: at each entry, and also
// if it is the last one.
func TestAStateOfAnotherHistoryIsRefused(t *testing.T) {
	d := newDestination(t)
	d.write(5)
	m := d.backUp(t, 0)
	d.ship(t, "n1", 0, 5)
	plan, err := d.Plan(t.Context(), backup.Target{})
	if err != nil {
		t.Fatal(err)
	}
	replay := func(state backup.Machine) error {
		_, err := plan.Replay(t.Context(), state, timeOf, nil)
		return err
	}
	good := &machine{index: m.Index, chain: m.Chain, time: m.Time}
	if err := replay(good); err != nil || len(good.applied) != 5 {
		t.Fatalf("%v after entries %d", err, good.applied)
	}
	if err := replay(&machine{index: m.Index, chain: m.Chain + 1, time: m.Time}); err == nil || !strings.Contains(err.Error(), "its manifest says") {
		t.Errorf("a state with another chain: %v", err)
	}
	if err := replay(&machine{index: m.Index + 1, chain: m.Chain, time: m.Time}); err == nil || !strings.Contains(err.Error(), "its manifest says") {
		t.Errorf("a state with another index: %v", err)
	}
	for _, entry := range good.applied {
		w := &wrongAt{&machine{index: m.Index, chain: m.Chain, time: m.Time}, entry}
		if err := replay(w); err == nil || !strings.Contains(err.Error(), "the chain of the state is") || w.index != entry {
			t.Errorf("a wrong chain at entry %d: %v at entry %d", entry, err, w.index)
		}
	}
}

// A state that cannot be used is replaced by an older one from which the log leads to it.
func TestAnOlderBackupNeedsTheLogUpToTheNewerOne(t *testing.T) {
	for name, c := range map[string]struct {
		ship  [][2]int
		older int // backups that can take its place, of two
	}{
		"the whole log":                {[][2]int{{0, 15}, {15, 30}}, 2},
		"a log that overlaps":          {[][2]int{{0, 15}, {10, 22}, {20, 30}}, 2},
		"a gap before the older one":   {[][2]int{{5, 30}}, 1},
		"a gap between both":           {[][2]int{{0, 12}, {15, 30}}, 0},
		"an end before the newest one": {[][2]int{{0, 15}}, 0},
		"no log":                       {nil, 0},
	} {
		d := newDestination(t)
		d.write(30)
		older := []string{d.backUp(t, 0).Name, d.backUp(t, 10).Name}
		d.backUp(t, 20)
		for _, s := range c.ship {
			d.ship(t, "n1", s[0], s[1])
		}
		plan, err := d.Plan(t.Context(), backup.Target{Index: d.log[25].Index})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.older {
			next, ok := plan.Older()
			if !ok || next.Base.Name != older[1-i] {
				t.Fatalf("%s: the backup before %s is %+v, %v", name, plan.Base.Name, next, ok)
			}
			plan = next
		}
		if next, ok := plan.Older(); ok {
			t.Errorf("%s: there is an older one, %+v", name, next)
		}
	}
}
