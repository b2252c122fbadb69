package backup_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/backup"
)

func keyOf(seed byte) (ed25519.PrivateKey, ed25519.PublicKey) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return key, key.Public().(ed25519.PublicKey)
}

// rotated returns a destination with backups after 0, 10 and 20 entries, of which another key has signed the last one, and
// the log after it.
func rotated(t *testing.T) (d *destination, all []backup.Manifest, old, current ed25519.PublicKey) {
	t.Helper()
	d = newDestination(t)
	d.write(30)
	d.key, old = keyOf(1)
	_, current = keyOf(2)
	all = append(all, d.backUpAs(t, 1, 0), d.backUpAs(t, 1, 10))
	d.Trust.Keys = []ed25519.PublicKey{old}
	d.ship(t, "n1", 0, 20)
	all = append(all, d.backUpAs(t, 2, 20))
	d.ship(t, "n1", 20, 30)
	return d, all, old, current
}

func (d *destination) backUpAs(t *testing.T, seed byte, i int) backup.Manifest {
	t.Helper()
	d.key, _ = keyOf(seed)
	return d.backUp(t, i)
}

// After the key of a cluster was replaced, older backups have signatures of a key that is not trusted. They are no damage.
func TestBackupsOfAReplacedKeyAreNoDamage(t *testing.T) {
	d, all, old, current := rotated(t)
	last := d.log[29].Index
	for name, c := range map[string]struct {
		trust   []ed25519.PublicKey
		target  backup.Target
		base    int // of all
		foreign int
		err     string
	}{
		"the current key":                       {trust: []ed25519.PublicKey{current}, base: 2},
		"the current key, an earlier entry":     {trust: []ed25519.PublicKey{current}, target: backup.Target{Index: d.log[14].Index}, err: "no trusted key"},
		"both keys":                             {trust: []ed25519.PublicKey{current, old}, base: 2},
		"both keys, an earlier entry":           {trust: []ed25519.PublicKey{current, old}, target: backup.Target{Index: d.log[14].Index}, base: 1},
		"the old key, an earlier entry":         {trust: []ed25519.PublicKey{old}, target: backup.Target{Index: d.log[14].Index}, base: 1},
		"the old key, an earlier instant":       {trust: []ed25519.PublicKey{old}, target: backup.Target{Time: d.log[11].time}, base: 1, foreign: 1},
		"the old key, an entry of the new one":  {trust: []ed25519.PublicKey{old}, target: backup.Target{Index: last}, base: 1, foreign: 1},
		"the old key, the end of what was sent": {trust: []ed25519.PublicKey{old}, err: "name the entry"},
	} {
		d.Trust.Keys = c.trust
		plan, err := d.Plan(t.Context(), c.target)
		switch {
		case c.err == "no trusted key":
			if err == nil || !errors.Is(err, backup.ErrSignature) {
				t.Errorf("%s: %v", name, err)
			}
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || plan.Base.Name != all[c.base].Name || len(plan.Foreign) != c.foreign:
			t.Errorf("%s: %+v, %v", name, plan, err)
		}
	}
	d.Trust.Keys = []ed25519.PublicKey{current}
	contents, err := d.List(t.Context())
	if err != nil || len(contents.Backups) != 1 || len(contents.Foreign) != 2 || len(contents.Damages) != 0 {
		t.Errorf("%+v, %v", contents, err)
	}
	named := contents.Named()
	if len(named) != 3 || named[1].Name != all[1].Name || named[1].Index != all[1].Index || named[1].StartedAt == 0 || named[2].Key == "" {
		t.Errorf("by name there are %+v", named)
	}
}

// A damaged manifest matters for a restore if its backup could be the newest one at or before the target.
func TestADamagedManifestBlocksOnlyItsOwnTargets(t *testing.T) {
	d := newDestination(t)
	d.write(40)
	d.ship(t, "n1", 0, 40)
	backups := []backup.Manifest{d.backUp(t, 0), d.backUp(t, 10), d.backUp(t, 20), d.backUp(t, 30)}
	damaged := backups[2]
	file := filepath.Join(d.dir, cluster, "backups", damaged.Name, "manifest.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		target backup.Target
		base   int // of backups; -1 if the plan is refused
	}{
		"the end":                {backup.Target{}, 3},
		"after the next backup":  {backup.Target{Index: d.log[34].Index}, 3},
		"before the damaged one": {backup.Target{Index: damaged.Index - 1}, 1},
		"at the damaged one":     {backup.Target{Index: damaged.Index}, -1},
		"after it":               {backup.Target{Index: backups[3].Index - 1}, -1},
		"an instant after it":    {backup.Target{Time: d.log[25].time}, -1},
		"an instant of the next": {backup.Target{Time: backups[3].Time}, 3},
	} {
		plan, err := d.Plan(t.Context(), c.target)
		if c.base < 0 {
			if err == nil || !strings.Contains(err.Error(), "move "+cluster+"/backups/"+damaged.Name+" away") {
				t.Errorf("%s: %+v, %v", name, plan, err)
			}
		} else if err != nil || plan.Base.Name != backups[c.base].Name {
			t.Errorf("%s: %+v, %v", name, plan, err)
		}
	}
}
