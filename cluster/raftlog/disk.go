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

// A full disk is the one disk failure that a node can see in advance
// (docs/hazards.md, S4). If less than the reserve, or than the operator's setting,
// is left beside the reserve file, the node refuses proposals and does not stand
// for election. It still accepts the leader's entries. If less than a quarter of
// the reserve is left, the node deletes the reserve file, so that terms, votes,
// applying and compaction find room. It accepts proposals again once twice the
// reserve is free and the file is back.
const (
	// reserveMax is the reserve of a big disk: more than a fast disk writes between
	// two checks, or a few compactions.
	reserveMax = 256 << 20

	// reserveMin is the reserve of the smallest disk: more than one commit of the
	// largest size.
	reserveMin = 16 << 20

	// reserveShare is the divisor that makes the reserve of the free space: all of
	// reserveMax from 64 GiB on, 40 MiB on a laptop with 10 GiB left.
	reserveShare = 256

	diskEvery = time.Second
)

// diskProbe returns how many bytes of the disk of dir this process can still use.
type diskProbe func(dir string) (free int64, err error)

func probeDisk(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil //nolint:gosec,unconvert // systems differ in the types
}

// DiskWatch watches the free space of the disk that holds the data directory.
type DiskWatch struct {
	dir    string
	probe  diskProbe
	logger hclog.Logger

	asked int64 // what the operator wants free; 0 means a share of the disk

	Low  atomic.Bool
	Left atomic.Int64 // bytes free at the last check

	mu      sync.Mutex // held during a check
	reserve int64      // guarded by mu; size of the file; 0 until the first check
	floor   int64      // guarded by mu; less free space than this is low
	held    bool       // guarded by mu; the reserve file is in place
}

// NewDiskWatch returns a watch over the disk that holds dir. A nil probe means the
// real disk.
func NewDiskWatch(dir string, probe diskProbe, logger hclog.Logger) *DiskWatch {
	if probe == nil {
		probe = probeDisk
	}
	return &DiskWatch{dir: dir, probe: probe, logger: logger}
}

func (d *DiskWatch) path() string { return filepath.Join(d.dir, "reserve") }

// look checks the free space, and creates or deletes the reserve file.
func (d *DiskWatch) look() error {
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
			if d.asked == 0 { // it may have been measured while the disk was full
				d.reserve = max(d.reserve, share(free))
				d.floor = d.reserve
			}
			if err := d.hold(); err != nil {
				return err
			}
		}
		if d.Low.CompareAndSwap(true, false) {
			d.logger.Info("there is room on the disk again: this node accepts writes", "free_bytes", free)
		}
	case d.Low.CompareAndSwap(false, true):
		d.logger.Error("the disk is nearly full: this node accepts no more writes and does not lead: free space under the data directory", "free_bytes", free, "needs_bytes", d.floor+d.reserve, "directory", d.dir)
	}
	if d.held && free < d.reserve/4 {
		if err := os.Remove(d.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the disk reserve: %w", err)
		}
		d.held = false
		d.logger.Error("the disk is almost completely full: deleted the reserve file so that this node can go on following", "freed_bytes", d.reserve, "directory", d.dir)
	}
	return nil
}

// measure sets the size of the reserve: a share of the free space, and no less than the
// file that an earlier run left. A run that began on a full disk left a small one.
func (d *DiskWatch) measure() error {
	stat, missing := os.Stat(d.path())
	if d.asked > 0 {
		d.floor, d.reserve = d.asked, min(d.asked, reserveMax)
		d.held = missing == nil && stat.Size() == d.reserve
		if missing == nil && stat.Size() > d.reserve {
			return os.Truncate(d.path(), 0)
		}
		return nil
	}
	free, err := d.probe(d.dir)
	if err != nil {
		return err
	}
	if missing == nil && stat.Size() >= reserveMin {
		d.reserve = max(stat.Size(), share(free+stat.Size()))
		d.floor, d.held = d.reserve, stat.Size() == d.reserve
		return nil
	}
	d.reserve = share(free)
	d.floor = d.reserve
	d.logger.Info("disk reserve", "bytes", d.reserve, "why", fmt.Sprintf("1/%d of the free space, at least %d and at most %d", reserveShare, reserveMin, reserveMax), "free_bytes", free)
	return nil
}

// share returns the reserve of a disk with so much free space.
func share(free int64) int64 { return min(max(free/reserveShare, reserveMin), reserveMax) }

// hold creates the reserve file with allocated blocks.
func (d *DiskWatch) hold() error {
	file, err := os.OpenFile(d.path(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create the disk reserve: %w", err)
	}
	err = allocate(file, d.reserve)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("create the disk reserve: %w", errors.Join(err, os.Remove(d.path())))
	}
	d.held = true
	return nil
}

// writeZeros gives a file so many bytes on disk, for file systems that cannot allocate them.
func writeZeros(file *os.File, bytes int64) error {
	zeros := make([]byte, 1<<20)
	for ; bytes > 0; bytes -= int64(len(zeros)) {
		if _, err := file.Write(zeros[:min(bytes, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	return file.Sync()
}

// writable returns the error with which a leader refuses a write, or nil.
func (d *DiskWatch) writable() error {
	if !d.Low.Load() {
		return nil
	}
	return agent.Errorf(agent.CodeReadOnly, "the disk of the leader is nearly full (%d bytes left), and no other node has room to lead: the cluster accepts no writes until there is room again", d.Left.Load())
}

// Room returns how many bytes can be written to the disk beside the log and the state: what is free beyond twice
// the space that must stay free. A node that has become read-only needs as much to accept writes again.
func (d *DiskWatch) Room() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reserve == 0 {
		if err := d.measure(); err != nil {
			return 0, err
		}
	}
	free, err := d.probe(d.dir)
	if !d.held {
		free -= d.reserve
	}
	return free - 2*d.floor, err
}

// run checks the disk every second until ctx ends.
func (d *DiskWatch) run(ctx context.Context) error {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		if err := d.look(); err != nil {
			d.logger.Warn("could not check the free space of the disk", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
