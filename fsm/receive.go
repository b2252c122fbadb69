package fsm

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc32"

	"dormouse/fsm/command"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// receiver takes a snapshot's stream in pieces of any size and writes its
// files, synced, into a directory that it makes. It checks everything on the
// way; the first error stays. Whoever uses it removes the directory of a
// stream that was not received whole.
type receiver struct {
	fs     storage.FS
	dir    string
	accept func(*logpb.SnapshotHeader) error // a word on the header before any file is written; may be nil

	pending []byte // of the prefix, header or end mark, until it is whole
	header  *logpb.SnapshotHeader
	encoded []byte // the header as it came

	next int          // the file of header.Files that is received
	file storage.File // nil before it is made
	left uint64       // bytes to come of file
	crc  hash.Hash32

	whole bool // the end mark has come
	err   error
}

func newReceiver(fs storage.FS, dir string, accept func(*logpb.SnapshotHeader) error) *receiver {
	return &receiver{fs: fs, dir: dir, accept: accept}
}

// Write implements io.Writer.
func (r *receiver) Write(p []byte) (int, error) {
	written := 0
	for r.err == nil && written < len(p) {
		var n int
		n, r.err = r.take(p[written:])
		written += n
	}
	if r.err != nil {
		return written, fmt.Errorf("receive snapshot: %w", r.err)
	}
	return written, nil
}

// take uses some of p, at least one byte of it.
func (r *receiver) take(p []byte) (int, error) {
	switch {
	case r.whole:
		return 0, errors.New("bytes follow its end")
	case r.header == nil:
		return r.takeHeader(p)
	case r.next < len(r.header.Files):
		return r.takeFile(p)
	default:
		n := r.collect(p, len(streamEnd))
		if len(r.pending) == len(streamEnd) {
			if string(r.pending) != streamEnd {
				return n, errors.New("its end mark is not there: it is damaged")
			}
			r.whole = true
		}
		return n, nil
	}
}

// collect adds to pending what it lacks of size bytes.
func (r *receiver) collect(p []byte, size int) int {
	n := min(len(p), size-len(r.pending))
	r.pending = append(r.pending, p[:n]...)
	return n
}

func (r *receiver) takeHeader(p []byte) (int, error) {
	if len(r.pending) < prefixBytes {
		n := r.collect(p, prefixBytes)
		if len(r.pending) < prefixBytes {
			return n, nil
		}
		_, err := headerLength(r.pending)
		return n, err
	}
	length, err := headerLength(r.pending)
	if err != nil {
		return 0, err
	}
	n := r.collect(p, prefixBytes+length)
	if len(r.pending) < prefixBytes+length {
		return n, nil
	}
	header, err := decodeHeader(r.pending[:prefixBytes], r.pending[prefixBytes:])
	if err != nil {
		return n, err
	}
	if r.accept != nil {
		if err := r.accept(header); err != nil {
			return n, err
		}
	}
	if err := storage.MakeDir(r.fs, r.dir); err != nil {
		return n, err
	}
	r.header, r.encoded, r.pending = header, r.pending, nil
	return n, r.skipEmpty()
}

// takeFile writes p to the file that is received.
func (r *receiver) takeFile(p []byte) (int, error) {
	if r.file == nil {
		if err := r.create(); err != nil {
			return 0, err
		}
	}
	p = p[:min(uint64(len(p)), r.left)]
	_, _ = r.crc.Write(p) // before the file gets it: an FS may change what it is given
	n, err := r.file.Write(p)
	if err != nil {
		return n, err
	}
	r.left -= uint64(n)
	if r.left > 0 {
		return n, nil
	}
	if err := r.complete(); err != nil {
		return n, err
	}
	return n, r.skipEmpty()
}

func (r *receiver) create() error {
	described := r.header.Files[r.next]
	f, err := storage.CreateFile(r.fs, r.fs.PathJoin(r.dir, described.Name))
	if err != nil {
		return err
	}
	r.file, r.left, r.crc = f, described.Size, crc32.New(command.Castagnoli)
	return nil
}

// complete checks and syncs the file that has been received.
func (r *receiver) complete() error {
	described := r.header.Files[r.next]
	err := errors.Join(r.file.Sync(), r.file.Close())
	r.file = nil
	if err != nil {
		return err
	}
	if r.crc.Sum32() != described.Crc32C {
		return fmt.Errorf("file %s is damaged: its checksum does not match", described.Name)
	}
	r.next++
	return nil
}

// skipEmpty makes the files without bytes, for which no Write comes.
func (r *receiver) skipEmpty() error {
	for r.next < len(r.header.Files) && r.header.Files[r.next].Size == 0 {
		if err := r.create(); err != nil {
			return err
		}
		if err := r.complete(); err != nil {
			return err
		}
	}
	return nil
}

// finish tells whether the stream was whole, and makes the directory durable.
func (r *receiver) finish() error {
	r.close()
	switch {
	case r.err != nil:
	case !r.whole:
		r.err = errors.New("it ends too early")
	default:
		r.err = storage.SyncDir(r.fs, r.dir)
	}
	if r.err != nil {
		return fmt.Errorf("receive snapshot: %w", r.err)
	}
	return nil
}

// close closes the file that was being received, if any.
func (r *receiver) close() {
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
		r.file = nil
	}
}
