package raftlog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dormouse/agent"
)

// gauge is a disk with a settable amount of space, less the reserve file.
type gauge struct {
	room int64
	disk *DiskWatch
}

func (g *gauge) probe(string) (int64, error) {
	if stat, err := os.Stat(g.disk.path()); err == nil {
		return g.room - stat.Size(), nil
	}
	return g.room, nil
}

func TestTheNodeTurnsReadOnlyBeforeTheDiskIsFull(t *testing.T) {
	g := &gauge{room: 10 << 30}
	g.disk = NewDiskWatch(t.TempDir(), g.probe, quiet)
	look := func() {
		t.Helper()
		if err := g.disk.look(); err != nil {
			t.Fatal(err)
		}
	}
	look()
	reserve := g.disk.reserve
	if reserve != 10<<30/reserveShare {
		t.Fatalf("the reserve of a disk with 10 GiB is %d", reserve)
	}
	stat, err := os.Stat(g.disk.path())
	if err != nil || stat.Size() != reserve {
		t.Fatalf("the reserve file: %v, %v", stat, err)
	}
	// Free space is what is left beside the reserve file, while that is there.
	for _, c := range []struct {
		name     string
		spare    int64
		writable bool
		held     bool
	}{
		{"plenty", 8 * reserve, true, true},
		{"just enough", reserve, true, true},
		{"too little", reserve - 1, false, true},
		{"a little more is not yet enough", 2*reserve - 1, false, true},
		{"enough again", 2 * reserve, true, true},
		{"next to nothing: the reserve goes", reserve/4 - 1, false, false},
		{"still too little for the reserve", reserve, false, false},
		{"room for the reserve and more", 2 * reserve, true, true},
	} {
		g.room = c.spare + reserve
		look()
		err := g.disk.writable()
		if (err == nil) != c.writable || err != nil && agent.CodeOf(err) != agent.CodeReadOnly {
			t.Errorf("%s: %v, want writable: %v", c.name, err, c.writable)
		}
		if _, err := os.Stat(g.disk.path()); (err == nil) != c.held {
			t.Errorf("%s: the reserve file is there: %v, want %v", c.name, err == nil, c.held)
		}
	}
}

func TestTheReserveSuitsTheDisk(t *testing.T) {
	for _, c := range []struct{ free, want int64 }{
		{1 << 40, reserveMax}, {64 << 30, reserveMax}, {32 << 30, 128 << 20}, {1 << 30, reserveMin}, {0, reserveMin},
	} {
		d := NewDiskWatch(t.TempDir(), func(string) (int64, error) { return c.free, nil }, quiet)
		if err := d.measure(); err != nil || d.reserve != c.want {
			t.Errorf("with %d bytes free: %d, %v; want %d", c.free, d.reserve, err, c.want)
		}
	}
}

// A node that starts on a full disk has a small reserve until there is room: the disk is not smaller for having
// been full.
func TestAReserveIsAsLargeAgainAfterAFullDisk(t *testing.T) {
	for name, restarts := range map[string]bool{"in the same run": false, "in the next run": true} {
		t.Run(name, func(t *testing.T) {
			g := &gauge{room: 20 << 20}
			dir := t.TempDir()
			if restarts { // the run on the full disk left its reserve
				if err := os.WriteFile(filepath.Join(dir, "reserve"), make([]byte, reserveMin), 0o600); err != nil {
					t.Fatal(err)
				}
				g.room = 32 << 30
			}
			g.disk = NewDiskWatch(dir, g.probe, quiet)
			if err := g.disk.look(); err != nil {
				t.Fatal(err)
			}
			g.room = 32 << 30
			if err := g.disk.look(); err != nil {
				t.Fatal(err)
			}
			const want = 128 << 20
			stat, err := os.Stat(g.disk.path())
			if err != nil || stat.Size() != want || g.disk.floor != want {
				t.Errorf("the reserve file: %v, %v; writes are refused below %d bytes, want %d of both", stat, err, g.disk.floor, want)
			}
			g.room = 2*want - 1
			if err := g.disk.look(); err != nil {
				t.Fatal(err)
			}
			if g.disk.writable() == nil {
				t.Error("the node accepts writes with less free space than its reserve")
			}
		})
	}
}

func TestADiskThatCannotBeAskedChangesNothing(t *testing.T) {
	broken := errors.New("no such device")
	d := NewDiskWatch(t.TempDir(), func(string) (int64, error) { return 0, broken }, quiet)
	if err := d.look(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := d.writable(); err != nil {
		t.Errorf("read-only for that: %v", err)
	}
}

func TestTheRealDiskAnswers(t *testing.T) {
	if free, err := probeDisk(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
}

func TestTheOperatorsReserveCounts(t *testing.T) {
	const asked = 64 << 20
	g := &gauge{room: 4 * asked}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "reserve"), make([]byte, asked+1), 0o600); err != nil { // of an earlier setting
		t.Fatal(err)
	}
	g.disk = NewDiskWatch(dir, g.probe, quiet)
	g.disk.asked = asked
	for _, c := range []struct {
		name     string
		free     int64
		writable bool
	}{
		{"as much as was asked for", asked, true},
		{"less", asked - 1, false},
		{"not enough to go back", 2*asked - 1, false},
		{"enough to go back", 2 * asked, true},
	} {
		g.room = asked + c.free // beside the file
		if err := g.disk.look(); err != nil {
			t.Fatal(err)
		}
		if err := g.disk.writable(); (err == nil) != c.writable {
			t.Errorf("%s: %v, want writable: %v", c.name, err, c.writable)
		}
		if stat, err := os.Stat(g.disk.path()); err != nil || stat.Size() != asked {
			t.Errorf("%s: the reserve file: %v, %v", c.name, stat, err)
		}
	}
}

func TestALargeReserveIsAskedForAndNotSetAside(t *testing.T) {
	d := NewDiskWatch(t.TempDir(), func(string) (int64, error) { return 1 << 40, nil }, quiet)
	d.asked = 50 << 30
	if err := d.measure(); err != nil || d.floor != d.asked || d.reserve != reserveMax {
		t.Errorf("floor %d, file of %d bytes, %v", d.floor, d.reserve, err)
	}
}

// The room for other files leaves what a node needs to accept writes again.
func TestTheRoomOfADiskKeepsTheNodeWritable(t *testing.T) {
	for _, asked := range []int64{0, 64 << 20, 1 << 30} {
		g := &gauge{room: 64 << 30}
		g.disk = NewDiskWatch(t.TempDir(), g.probe, quiet)
		g.disk.asked = asked
		for range 2 { // before the first check, and after it
			room, err := g.disk.Room()
			if want := g.room - g.disk.reserve - 2*g.disk.floor; err != nil || g.disk.floor == 0 || room != want {
				t.Errorf("with a reserve of %d there is room for %d, %v, want %d", g.disk.floor, room, err, want)
			}
			if err := g.disk.look(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
