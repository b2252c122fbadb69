package disk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/testbed/disk"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

func TestAPowerCutLosesWhatWasNotSynced(t *testing.T) {
	for name, o := range map[string]disk.Options{"powered": {}, "powered and faulty": {Faulty: true}} {
		t.Run(name, func(t *testing.T) {
			d := openPowered(t, o)
			at := func(name string) string { return filepath.Join(d.Dir(), name) }
			must(t, write(at("kept"), "synced,", true))
			for range 3 { // each cut behaves like the first
				must(t, write(at("kept"), "lost", false))
				must(t, write(at("never"), "synced", false))
				must(t, d.PowerCut(t.Context()))
				kept, err := os.ReadFile(at("kept"))
				if err != nil || string(bytes.TrimRight(kept, "\x00")) != "synced," {
					t.Errorf("the synced file: %q, %v", kept, err)
				}
				if _, err := os.Stat(at("never")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the file that was never synced: %v", err)
				}
			}
			must(t, write(at("kept"), "", true)) // the file can be written again
		})
	}
}

// The disks reuse each other's loop devices.
func TestThePowerOfSeveralDisksIsCutAtOnce(t *testing.T) {
	var disks errgroup.Group
	for range 4 {
		d := openPowered(t, disk.Options{})
		path := filepath.Join(d.Dir(), "a")
		disks.Go(func() error {
			if err := write(path, "x", true); err != nil {
				return err
			}
			for range 5 {
				if err := d.PowerCut(t.Context()); err != nil {
					return err
				}
			}
			_, err := os.Stat(path)
			return err
		})
	}
	must(t, disks.Wait())
}

func TestAPoweredDiskIsFoundAgain(t *testing.T) {
	if err := disk.CanCutPower(); err != nil {
		t.Skip(err)
	}
	o := disk.Options{Dir: t.TempDir(), Powered: true, Size: 32 << 20}
	d := open(t, o)
	must(t, write(filepath.Join(d.Dir(), "a"), "x", false)) // an orderly unmount writes it
	must(t, d.Close())
	mustRead(t, filepath.Join(open(t, o).Dir(), "a"), "x")
}

// If it were mounted again, the old mount could write over the new one's blocks.
func TestTheDiskOfALiveProcessGetsNoPowerBack(t *testing.T) {
	d := openPowered(t, disk.Options{})
	keeper := start(t, "keeper", filepath.Join(d.Dir(), "a"))
	keeper.says(t, "open")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.PowerCut(ctx); !errors.Is(err, unix.EBUSY) {
		t.Errorf("the cut with a file open: %v", err)
	}
	if err := d.PowerCut(t.Context()); err == nil || !strings.Contains(err.Error(), "no power") {
		t.Errorf("the cut after that: %v", err)
	}
}

// The call that cuts the power works on any file system, so it must check which one it
// has.
func TestAPowerCutSparesTheFileSystemBelow(t *testing.T) {
	d := openPowered(t, disk.Options{})
	must(t, unix.Unmount(filepath.Dir(d.Dir()), 0))
	if err := d.PowerCut(t.Context()); err == nil || !strings.Contains(err.Error(), "no longer mounted") {
		t.Errorf("the cut of a disk that is not there: %v", err)
	}
	must(t, unix.Mount("none", filepath.Dir(d.Dir()), "tmpfs", 0, "")) // so that Close finds a mount
}

func TestNothingIsLeftOfAProcessThatWasKilled(t *testing.T) {
	for _, can := range []func() error{disk.CanFault, disk.CanCutPower} {
		if err := can(); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	owner := start(t, "owner", dir)
	owner.says(t, "open")
	if len(mountsBelow(t, dir)) != 2 {
		t.Fatal("not mounted")
	}
	owner.kill(t)
	eventually(t, "the mounts are gone", func() bool { return mountsBelow(t, dir) == nil })
	image := filepath.Join(dir, "image")
	eventually(t, "the loop device is gone", func() bool { return !attached(t, image) })
}

func attached(t *testing.T, image string) bool {
	t.Helper()
	backing, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	must(t, err)
	for _, path := range backing {
		if name, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(name)) == image {
			return true
		}
	}
	return false
}

func TestWhatAnEarlierProcessLeftIsDetachedBelowTheDirectoryAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	top := t.TempDir()
	mine, other := filepath.Join(top, "a b"), filepath.Join(top, "a b2")
	for _, dir := range []string{filepath.Join(mine, "under"), other} {
		must(t, os.MkdirAll(dir, 0o755))
		must(t, unix.Mount("none", dir, "tmpfs", 0, ""))
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }) // one mount is gone already
	}
	d, err := disk.Open(t.Context(), disk.Options{Dir: mine})
	must(t, err)
	must(t, d.Close())
	if err := unix.Unmount(filepath.Join(mine, "under"), 0); err == nil {
		t.Error("what was left below is still there")
	}
	if err := unix.Unmount(other, 0); err != nil {
		t.Errorf("what is beside is gone: %v", err)
	}
}
