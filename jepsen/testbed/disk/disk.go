package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options say what a disk can do, and where it is.
type Options struct {
	Dir     string // all of the disk lies below it; made if absent
	Faulty  bool   // FailSync, Full, Slow and Hang work; see CanFault
	Powered bool   // PowerCut works; see CanCutPower
	Size    int64  // of a powered disk, in bytes; 0 means 512 MiB
}

// Disk is the disk of one host. Faults may be set at any time, by anyone;
// PowerCut and Close are called by one at a time, with the host dead.
type Disk struct {
	dir     string   // the host's data, by the way that the host goes
	under   string   // where the data lies, without what can fail above it
	faulty  *faulty  // nil where it was not asked for
	powered *powered // nil where it was not asked for
	guard   *guard   // nil where nothing is mounted
}

// Open makes a disk, or finds the one that lies below o.Dir: its data is then
// still there. What a process that was killed left mounted below o.Dir is
// detached first.
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

// start mounts what there is to mount, with a guard over it.
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

// makeDurably makes a directory that a power cut does not unmake.
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

// Dir is the directory for the host's data. It is there, and empty on a new disk.
func (d *Disk) Dir() string { return d.dir }

// Close unmounts the disk; its data stays where it is. A disk that is still in
// use is detached and an error says so. It may be called again.
func (d *Disk) Close() error {
	ctx := context.Background() // a run that was interrupted is cleaned up all the same
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

// PowerCut loses what was written and not synced, and leaves the disk ready for
// a new start, without faults. The host's process must have been killed: a disk
// in use cannot be given its power back, and an error says so.
func (d *Disk) PowerCut(ctx context.Context) error {
	if d.powered == nil {
		return fmt.Errorf("cut the power of %s: this disk was opened without power to cut", d.dir)
	}
	// The power goes first of all, lest anything be written back meanwhile. A
	// faulty file system above keeps names and pages that the cut undoes, so it
	// is made again too.
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
		return fmt.Errorf("give %s its power back: %w", d.dir, err)
	}
	return nil
}

// Faults add up, save that a hung disk does not fail: it waits.

// FailSync makes the next sync, or every one until Heal, fail with EIO. What
// was written stays written.
func (d *Disk) FailSync(once bool) {
	d.set(func(s *faults) {
		if s.sync = syncFails; once {
			s.sync = syncFailsOnce
		}
	})
}

// Full makes writes, allocations and new files fail with ENOSPC, and the free
// space 0.
func (d *Disk) Full(on bool) { d.set(func(s *faults) { s.full = on }) }

// Slow makes each write and each sync take so much longer.
func (d *Disk) Slow(by time.Duration) { d.set(func(s *faults) { s.slow = by }) }

// Hang makes reads and changes wait until the disk no longer hangs, is closed,
// or their process is killed.
func (d *Disk) Hang(on bool) { d.set(func(s *faults) { s.hung = on }) }

// Heal ends all faults of a disk that can have any.
func (d *Disk) Heal() {
	if d.faulty != nil {
		d.set(func(s *faults) { *s = faults{} })
	}
}

// set panics where a fault that was asked for could not happen: a run that went
// on would report a test that was none.
func (d *Disk) set(change func(*faults)) {
	if d.faulty == nil {
		panic("disk: a fault was asked of a disk that was opened without Faulty")
	}
	d.faulty.gate.set(change)
}
