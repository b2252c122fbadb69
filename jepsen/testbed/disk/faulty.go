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

// faulty is a mounted FUSE file system over a directory, whose calls can be made
// to fail by its gate.
type faulty struct {
	under, dir string // what is served, and where
	gate       *gate
	open       openFiles
	server     *fuse.Server // nil while it is not mounted
}

// CanFault says why this machine cannot have a faulty disk, or nil.
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

// newFaulty makes a disk without faults over the directory under. Both
// directories must be there.
func newFaulty(under, dir string) *faulty {
	return &faulty{under: under, dir: dir, gate: newGate()}
}

// mount serves the disk in its directory. The device is opened here and not by
// the library, which would let it be inherited: the processes that are started
// on this disk would then keep it up after the harness has died.
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
			// All changes go through this mount, so the kernel need not
			// throw its pages away when a file's time has changed.
			ExplicitDataCacheControl: true,
			Logger:                   log.New(io.Discard, "", 0),
		},
	})
	if err != nil {
		// The library has closed the device, or the unmounting will.
		return errors.Join(fmt.Errorf("serve FUSE on %s: %w", f.dir, err), unmount(context.Background(), f.dir))
	}
	f.server = server
	return f.refusePolls()
}

// probe is a name that the library answers to by itself, for refusePolls.
const probe = ".go-fuse-epoll-hack"

// refusePolls makes the kernel ask once whether files here can be polled, and
// no more when it hears that they cannot. The Go runtime polls each file that
// it opens, in a call during which it counts the thread as running: were this
// process to open a file here, all others might wait for that thread, and so
// would the one that has to answer it. (The library does this itself where it
// does the mounting.)
func (f *faulty) refusePolls() error {
	file, err := unix.Open(filepath.Join(f.dir, probe), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("use FUSE on %s: %w", f.dir, err), f.unmount(context.Background()))
	}
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(file), Events: unix.POLLIN}}, 0) // what it says is no matter
	return unix.Close(file)
}

func (f *faulty) root() *node {
	tree := &fs.LoopbackRoot{Path: f.under}
	root := &node{LoopbackNode: fs.LoopbackNode{RootData: tree}, disk: f}
	tree.RootNode = root
	return root
}

// unmount heals the disk, so that nothing waits for it, and takes it away. Who
// still has files open there finds them broken, and is told as an error.
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

// file is an open file of this disk, for the kernel.
func (f *faulty) file(under fs.FileHandle) *file {
	h := &file{under: under.(*fs.LoopbackFile), disk: f}
	f.open.add(h, func() { _ = h.under.Release(context.Background()) }) // it was never synced: nobody waits for its bytes
	return h
}
