package disk

import (
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// openFiles are the files and directories that the kernel has opened and not released
// yet. If a file system is unmounted while a killed process has it open, the release
// may never arrive; closeAll then closes the files.
type openFiles struct {
	mu    sync.Mutex
	close map[fs.FileHandle]func() // guarded by mu; by the kernel's handle
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

// closeAll closes all files. It is called when the kernel makes no more calls.
func (o *openFiles) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, closed := range o.close {
		closed()
	}
	o.close = nil
}

// file is an open file of a faulty disk. It declares each call that it serves. That
// hides further calls of the underlying file, such as lending its descriptor to the
// kernel, which would bypass the gate. The kernel handles locks, because all processes
// use the same mount.
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

// Setattr mainly truncates. The node's Setattr has already passed the gate.
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

// directoryStream is the interface with which go-fuse reads a directory.
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
