package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// faulty is a mounted FUSE file system over a directory. Its gate makes calls fail.
type faulty struct {
	under, dir string // the directory that is served, and the mount point
	gate       *gate
	open       openFiles
	server     *fuse.Server // nil if not mounted
}

// CanFault returns why this machine cannot have a faulty disk, or nil.
func CanFault() error {
	if os.Geteuid() != 0 {
		return errors.New("disk faults need root, to mount a FUSE file system")
	}
	dev, err := os.OpenFile(fuseDevice, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("disk faults need FUSE: %w", err)
	}
	return dev.Close()
}

const fuseDevice = "/dev/fuse"

// newFaulty returns a disk without faults over the directory under. Both directories
// must exist.
func newFaulty(under, dir string) *faulty {
	return &faulty{under: under, dir: dir, gate: newGate()}
}

// mount serves the disk in its directory. mount opens the device itself because the
// library would let child processes inherit it: processes on this disk would then keep
// the mount alive after the harness has died.
func (f *faulty) mount() error {
	device, err := unix.Open(fuseDevice, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", fuseDevice, err)
	}
	how := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", device)
	if err := unix.Mount("dormjepsen", f.dir, "fuse.dormjepsen", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOATIME, how); err != nil {
		return errors.Join(fmt.Errorf("mount FUSE on %s: %w", f.dir, err), unix.Close(device))
	}
	second := time.Second
	server, err := fs.Mount(fmt.Sprintf("/dev/fd/%d", device), f.root(), &fs.Options{
		EntryTimeout: &second,
		AttrTimeout:  &second,
		MountOptions: fuse.MountOptions{
			DisableXAttrs: true,
			// All changes go through this mount, so the kernel may keep its cached
			// pages when a file's modification time changes.
			ExplicitDataCacheControl: true,
			Logger:                   log.New(io.Discard, "", 0),
		},
	})
	if err != nil {
		// The library has closed the device, or the unmount will.
		return errors.Join(fmt.Errorf("serve FUSE on %s: %w", f.dir, err), unmount(context.Background(), f.dir))
	}
	f.server = server
	return f.refusePolls()
}

// probe is a name that the library itself answers, for refusePolls.
const probe = ".go-fuse-epoll-hack"

// refusePolls makes the kernel find out that files here cannot be polled, so that it
// does not ask again. The Go runtime polls each file that it opens, in a system call
// during which it counts the thread as running. If this process opened a file here,
// all threads could wait for that one, including the one that must answer the call.
// (The library does the same if it does the mount.)
func (f *faulty) refusePolls() error {
	file, err := unix.Open(filepath.Join(f.dir, probe), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("use FUSE on %s: %w", f.dir, err), f.unmount(context.Background()))
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(file), Events: unix.POLLIN}}, 0) // the answer does not matter
	return unix.Close(file)
}

func (f *faulty) root() *node {
	tree := &fs.LoopbackRoot{Path: f.under}
	root := &node{LoopbackNode: fs.LoopbackNode{RootData: tree}, disk: f}
	tree.RootNode = root
	return root
}

// unmount heals the disk, so that no call waits for it, and unmounts it. Files that
// are still open become invalid; unmount returns an error then.
func (f *faulty) unmount(ctx context.Context) error {
	if f.server == nil {
		return nil
	}
	f.gate.set(func(s *faults) { *s = faults{} })
	err := unmount(ctx, f.dir)
	f.server.Wait()
	f.open.closeAll()
	f.server = nil
	return err
}

// file returns an open file of this disk for the kernel.
func (f *faulty) file(under fs.FileHandle) *file {
	h := &file{under: under.(*fs.LoopbackFile), disk: f}
	f.open.add(h, func() { _ = h.under.Release(context.Background()) }) // releases the file without syncing it
	return h
}
