package raftlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
)

// A full disk is the one disk failure that can be seen coming (HAZARDS S4).
// When less than the reserve, or than what the operator asked for, is left
// beside the reserve file, the node
// refuses proposals and does not stand for election, but goes on taking the
// leader's entries. When a quarter of that is left, it gives the reserve file
// up, so that terms, votes, applying and compaction still find room. It is
// writable again only with twice the reserve free and the file back in place.
const (
	// reserveMax is what a big disk sets aside: a few seconds of a fast disk's
	// writes at the 1 s at which it is looked at, or a few compactions.
	reserveMax = 256 << 20

	// reserveMin is what even the smallest sets aside: one commit of the
	// largest size, and then some.
	reserveMin = 16 << 20

	// reserveShare is which part of what is free at the start is set aside: the
	// whole of reserveMax from 64 GiB on, 40 MiB on a laptop with 10 GiB left.
	reserveShare = 256

	diskEvery = time.Second
)

// diskProbe tells how many bytes of the disk under dir this process can still use.
type diskProbe func(dir string) (free int64, err error)

func probeDisk(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// disk watches the free space under the data directory.
type disk struct {
	dir    string
	probe  diskProbe
	logger hclog.Logger

	asked int64 // what the operator wants free; 0 means what suits the disk

	Low  atomic.Bool
	Left atomic.Int64 // free when last looked at

	mu      sync.Mutex // one look at a time
	reserve int64      // guarded by mu; size of the file; 0 until the first look
	floor   int64      // guarded by mu; less than so much free is low
	held    bool       // guarded by mu; the reserve file is in place
}

// NewDisk returns the watch over the space of the disk that holds dir. A nil probe means
// the real disk.
func NewDisk(dir string, probe diskProbe, logger hclog.Logger) *disk {
	if probe == nil {
		probe = probeDisk
	}
	return &disk{dir: dir, probe: probe, logger: logger}
}

func (d *disk) path() string { return filepath.Join(d.dir, "reserve") }

// look updates what writable answers, and makes or gives up the reserve.
func (d *disk) look() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reserve == 0 {
		if err := d.measure(); err != nil {
			return err
		}
	}
	free, err := d.probe(d.dir)
	if err != nil {
		return err
	}
	d.Left.Store(free)
	spare := free // beside the reserve, as if the file were there
	if !d.held {
		spare -= d.reserve
	}
	switch {
	case d.Low.Load() && spare >= d.floor+d.reserve, !d.Low.Load() && spare >= d.floor:
		if !d.held {
			if err := d.hold(); err != nil {
				return err
			}
		}
		if d.Low.CompareAndSwap(true, false) {
			d.logger.Info("there is room on the disk again: this node takes writes", "free_bytes", free)
		}
	case d.Low.CompareAndSwap(false, true):
		d.logger.Error("the disk is nearly full: this node takes no more writes and does not lead: free space under the data directory", "free_bytes", free, "needs_bytes", d.floor+d.reserve, "directory", d.dir)
	}
	if d.held && free < d.reserve/4 {
		if err := os.Remove(d.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("give up the disk reserve: %w", err)
		}
		d.held = false
		d.logger.Error("the disk is all but full: gave up the reserve so that this node can go on following", "freed_bytes", d.reserve, "directory", d.dir)
	}
	return nil
}

// measure decides the size of the reserve, by the one that an earlier run left
// or by what is free.
func (d *disk) measure() error {
	stat, missing := os.Stat(d.path())
	if d.asked > 0 {
		d.floor, d.reserve = d.asked, min(d.asked, reserveMax)
		d.held = missing == nil && stat.Size() == d.reserve
		if missing == nil && stat.Size() > d.reserve {
			return os.Truncate(d.path(), 0)
		}
		return nil
	}
	if missing == nil && stat.Size() >= reserveMin {
		d.reserve, d.floor, d.held = stat.Size(), stat.Size(), true
		return nil
	}
	free, err := d.probe(d.dir)
	if err != nil {
		return err
	}
	d.reserve = min(max(free/reserveShare, reserveMin), reserveMax)
	d.floor = d.reserve
	d.logger.Info("disk reserve", "bytes", d.reserve, "why", fmt.Sprintf("1/%d of the free space, at least %d and at most %d", reserveShare, reserveMin, reserveMax), "free_bytes", free)
	return nil
}

// hold puts the reserve file in place: real blocks, not a hole.
func (d *disk) hold() error {
	file, err := os.OpenFile(d.path(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("set the disk reserve aside: %w", err)
	}
	err = unix.Fallocate(int(file.Fd()), 0, 0, d.reserve)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = fill(file, d.reserve)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("set the disk reserve aside: %w", errors.Join(err, os.Remove(d.path())))
	}
	d.held = true
	return nil
}

func fill(file *os.File, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for ; bytes > 0; bytes -= int64(len(zeros)) {
		if _, err := file.Write(zeros[:min(bytes, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	return file.Sync()
}

// writable is nil, or the error that refuses a write.
func (d *disk) writable() error {
	if !d.Low.Load() {
		return nil
	}
	return agent.Errorf(agent.CodeReadOnly, "the disk of this node is nearly full (%d bytes left): it takes no writes until there is room again", d.Left.Load())
}

// run looks at the disk until ctx ends.
func (d *disk) run(ctx context.Context) error {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		if err := d.look(); err != nil {
			d.logger.Warn("could not look after the disk's free space", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
