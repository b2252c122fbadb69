package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options are the options of a disk.
type Options struct {
	Dir     string // directory of the whole disk; created if missing
	Faulty  bool   // enables FailSync, Full, Slow and Hang; see CanFault
	Powered bool   // enables PowerCut; see CanCutPower
	Size    int64  // of a powered disk, in bytes; 0 means 512 MiB
}

// Disk is the disk of one host. Faults may be set concurrently at any time. PowerCut
// and Close must not be called concurrently, and only when the host's process has
// ended.
type Disk struct {
	dir     string   // the host's data, as the host sees it
	under   string   // the same data below the faulty file system
	faulty  *faulty  // nil if not requested
	powered *powered // nil if not requested
	guard   *guard   // nil if nothing is mounted
}

// Open creates a disk, or opens the existing one below o.Dir with its data. It first
// detaches mounts below o.Dir that a killed process left behind.
func Open(ctx context.Context, o Options) (*Disk, error) {
	top, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	image, under, above := filepath.Join(top, "image"), filepath.Join(top, "under"), filepath.Join(top, "faulty")
	if err := os.MkdirAll(top, 0o755); err != nil {
		return nil, err
	}
	if err := sweep(top); err != nil {
		return nil, err
	}
	d := &Disk{dir: filepath.Join(under, "data"), under: under}
	var mounts []string
	for _, dir := range []string{under, above} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if o.Powered {
		if _, err := os.Stat(image); errors.Is(err, os.ErrNotExist) {
			if o.Size == 0 {
				o.Size = sizeDefault
			}
			if err := format(ctx, image, o.Size); err != nil {
				return nil, err
			}
		}
		d.powered = &powered{image: image, dir: under}
		mounts = append(mounts, under)
	}
	if o.Faulty {
		d.faulty = newFaulty(under, above)
		d.dir = filepath.Join(above, "data")
		mounts = append([]string{above}, mounts...)
	}
	if err := d.start(mounts); err != nil {
		return nil, err
	}
	return d, nil
}

// start mounts the file systems, with a guard that unmounts them if this process dies.
func (d *Disk) start(mounts []string) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if len(mounts) > 0 {
		if d.guard, err = watchOver(mounts); err != nil {
			return err
		}
	}
	return d.mount()
}

// makeDurably creates a directory so that a power cut does not lose it.
func makeDurably(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

func (d *Disk) mount() error {
	if d.powered != nil {
		if err := d.powered.mount(); err != nil {
			return err
		}
	}
	if err := makeDurably(filepath.Join(d.under, "data")); err != nil {
		return err
	}
	if d.faulty != nil {
		return d.faulty.mount()
	}
	return nil
}

// Dir returns the directory for the host's data. It exists, and is empty on a new
// disk.
func (d *Disk) Dir() string { return d.dir }

// Close unmounts the disk and keeps its data. A disk that is still in use is detached,
// with an error. Close may be called more than once.
func (d *Disk) Close() error {
	ctx := context.Background() // clean up also after an interrupted run
	var problems []error
	if d.faulty != nil {
		problems = append(problems, d.faulty.unmount(ctx))
	}
	if d.powered != nil {
		problems = append(problems, d.powered.unmount(ctx))
	}
	if d.guard != nil {
		problems = append(problems, d.guard.dismiss())
		d.guard = nil
	}
	return errors.Join(problems...)
}

// PowerCut discards all writes that were not synced. Afterwards the disk is ready to
// use, without faults. The host's process must have been killed; PowerCut returns an
// error if the disk is in use.
func (d *Disk) PowerCut(ctx context.Context) error {
	if d.powered == nil {
		return fmt.Errorf("cut the power of %s: the disk was opened without Powered", d.dir)
	}
	// The power goes first, so that nothing is written back in the meantime. A faulty
	// file system above caches names and pages that the cut undoes, so it is mounted
	// again too.
	err := d.powered.shutdown()
	if err == nil && d.faulty != nil {
		err = d.faulty.unmount(ctx)
	}
	if err == nil {
		err = d.powered.unmount(ctx)
	}
	if err != nil {
		return fmt.Errorf("cut the power of %s: %w", d.dir, err)
	}
	if err := d.mount(); err != nil {
		return fmt.Errorf("restore the power of %s: %w", d.dir, err)
	}
	return nil
}

// Faults add up, except that a hung disk does not fail: it waits.

// FailSync makes the next sync fail with EIO, or every sync until Heal. Written data
// remains readable.
func (d *Disk) FailSync(once bool) {
	d.set(func(s *faults) {
		if s.sync = syncFails; once {
			s.sync = syncFailsOnce
		}
	})
}

// Full makes writes, allocations and new files fail with ENOSPC, and reports no free
// space.
func (d *Disk) Full(on bool) { d.set(func(s *faults) { s.full = on }) }

// Slow delays each write and each sync by the given duration.
func (d *Disk) Slow(by time.Duration) { d.set(func(s *faults) { s.slow = by }) }

// SlowSync delays each sync by the given duration, and no write.
func (d *Disk) SlowSync(by time.Duration) { d.set(func(s *faults) { s.late = by }) }

// Hang makes reads and changes wait until the disk no longer hangs, is closed, or
// their process is killed.
func (d *Disk) Hang(on bool) { d.set(func(s *faults) { s.hung = on }) }

// Heal ends all faults of the disk.
func (d *Disk) Heal() {
	if d.faulty != nil {
		d.set(func(s *faults) { *s = faults{} })
	}
}

// set panics if the disk cannot have faults: otherwise a run would go on and report a
// test that did not take place.
func (d *Disk) set(change func(*faults)) {
	if d.faulty == nil {
		panic("disk: a fault was set on a disk that was opened without Faulty")
	}
	d.faulty.gate.set(change)
}
