package disk

import (
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// openFiles are the files and directories that the kernel has opened and not
// released yet. Where a file system is unmounted under a process that was
// killed the release may never come; closeAll is it then.
type openFiles struct {
	mu    sync.Mutex
	close map[fs.FileHandle]func() // guarded by mu; by what the kernel holds
}

func (o *openFiles) add(h fs.FileHandle, closed func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.close == nil {
		o.close = map[fs.FileHandle]func(){}
	}
	o.close[h] = closed
}

func (o *openFiles) remove(h fs.FileHandle) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.close, h)
}

// closeAll is called when the kernel can call no more.
func (o *openFiles) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, closed := range o.close {
		closed()
	}
	o.close = nil
}

// file is an open file of a faulty disk. It names each call that it serves, so
// that what the file below can do besides (lend its descriptor to the kernel,
// which would then pass the gate by) stays hidden. Locks are the kernel's own
// business: all processes that lock go through the same mount.
type file struct {
	under *fs.LoopbackFile
	disk  *faulty
}

func (f *file) Read(ctx context.Context, to []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	if errno := f.disk.gate.pass(ctx, callRead); errno != 0 {
		return nil, errno
	}
	return f.under.Read(ctx, to, at)
}

func (f *file) Write(ctx context.Context, data []byte, at int64) (uint32, syscall.Errno) {
	if errno := f.disk.gate.pass(ctx, callWrite); errno != 0 {
		return 0, errno
	}
	return f.under.Write(ctx, data, at)
}

func (f *file) Allocate(ctx context.Context, at, size uint64, mode uint32) syscall.Errno {
	if errno := f.disk.gate.pass(ctx, callWrite); errno != 0 {
		return errno
	}
	return f.under.Allocate(ctx, at, size, mode)
}

func (f *file) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if errno := f.disk.gate.pass(ctx, callSync); errno != 0 {
		return errno
	}
	return f.under.Fsync(ctx, flags)
}

// Setattr is truncation, above all. The gate is the node's.
func (f *file) Setattr(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return f.under.Setattr(ctx, in, out)
}

func (f *file) Getattr(ctx context.Context, out *fuse.AttrOut) syscall.Errno {
	return f.under.Getattr(ctx, out)
}

func (f *file) Lseek(ctx context.Context, at uint64, whence uint32) (uint64, syscall.Errno) {
	return f.under.Lseek(ctx, at, whence)
}

func (f *file) Flush(ctx context.Context) syscall.Errno { return f.under.Flush(ctx) }

func (f *file) Release(ctx context.Context) syscall.Errno {
	f.disk.open.remove(f)
	return f.under.Release(ctx)
}

// directoryStream is what go-fuse reads a directory by.
type directoryStream interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	fs.FileFsyncdirer
}

// directory is an open directory of a faulty disk.
type directory struct {
	directoryStream
	disk *faulty
}

func (d *directory) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	if errno := d.disk.gate.pass(ctx, callSync); errno != 0 {
		return errno
	}
	return d.directoryStream.Fsyncdir(ctx, flags)
}

func (d *directory) Releasedir(ctx context.Context, flags uint32) {
	d.disk.open.remove(d)
	d.directoryStream.Releasedir(ctx, flags)
}
