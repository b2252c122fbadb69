package snapshot

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc32"

	"dormouse/fsm/command"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Receiver receives a snapshot's stream in pieces of any size and writes its files, synced, into a
// directory that it creates. It checks everything; the first error is permanent. The caller removes
// the directory of an incomplete stream.
type Receiver struct {
	fs     storage.FS
	dir    string
	accept func(*snapfile.SnapshotHeader) error // accepts or rejects the header before any file is written; may be nil

	pending []byte // of the prefix, header or end mark, until it is complete
	Header  *snapfile.SnapshotHeader
	Encoded []byte // the header as received

	next int          // the file of header.Files that is being received
	file storage.File // nil before it is created
	left uint64       // bytes to come of file
	crc  hash.Hash32

	whole bool // the end mark has been received
	err   error
}

// NewReceiver returns a receiver that writes a snapshot to a directory. If accept returns an error,
// the receiver refuses the snapshot before its first file.
func NewReceiver(fs storage.FS, dir string, accept func(*snapfile.SnapshotHeader) error) *Receiver {
	return &Receiver{fs: fs, dir: dir, accept: accept}
}

// Write implements io.Writer.
func (r *Receiver) Write(p []byte) (int, error) {
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

// take consumes at least one byte of p and returns how many.
func (r *Receiver) take(p []byte) (int, error) {
	switch {
	case r.whole:
		return 0, errors.New("bytes follow its end")
	case r.Header == nil:
		return r.takeHeader(p)
	case r.next < len(r.Header.Files):
		return r.takeFile(p)
	default:
		n := r.collect(p, len(StreamEnd))
		if len(r.pending) == len(StreamEnd) {
			if string(r.pending) != StreamEnd {
				return n, errors.New("its end mark is not there: it is damaged")
			}
			r.whole = true
		}
		return n, nil
	}
}

// collect adds to pending the missing bytes up to size.
func (r *Receiver) collect(p []byte, size int) int {
	n := min(len(p), size-len(r.pending))
	r.pending = append(r.pending, p[:n]...)
	return n
}

func (r *Receiver) takeHeader(p []byte) (int, error) {
	if len(r.pending) < PrefixBytes {
		n := r.collect(p, PrefixBytes)
		if len(r.pending) < PrefixBytes {
			return n, nil
		}
		_, err := HeaderLength(r.pending)
		return n, err
	}
	length, err := HeaderLength(r.pending)
	if err != nil {
		return 0, err
	}
	n := r.collect(p, PrefixBytes+length)
	if len(r.pending) < PrefixBytes+length {
		return n, nil
	}
	header, err := DecodeHeader(r.pending[:PrefixBytes], r.pending[PrefixBytes:])
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
	r.Header, r.Encoded, r.pending = header, r.pending, nil
	return n, r.skipEmpty()
}

// takeFile writes p to the current file.
func (r *Receiver) takeFile(p []byte) (int, error) {
	if r.file == nil {
		if err := r.create(); err != nil {
			return 0, err
		}
	}
	p = p[:min(uint64(len(p)), r.left)]
	_, _ = r.crc.Write(p) // before the file gets it: an FS may change its argument
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

func (r *Receiver) create() error {
	described := r.Header.Files[r.next]
	f, err := storage.CreateFile(r.fs, r.fs.PathJoin(r.dir, described.Name))
	if err != nil {
		return err
	}
	r.file, r.left, r.crc = f, described.Size, crc32.New(command.Castagnoli)
	return nil
}

// complete checks and syncs the received file.
func (r *Receiver) complete() error {
	described := r.Header.Files[r.next]
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

// skipEmpty creates the files without bytes, which get no Write.
func (r *Receiver) skipEmpty() error {
	for r.next < len(r.Header.Files) && r.Header.Files[r.next].Size == 0 {
		if err := r.create(); err != nil {
			return err
		}
		if err := r.complete(); err != nil {
			return err
		}
	}
	return nil
}

// Finish returns an error unless the stream was complete, and makes the directory durable.
func (r *Receiver) Finish() error {
	r.Close()
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

// Close closes the file that was being received, if any.
func (r *Receiver) Close() {
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
		r.file = nil
	}
}
