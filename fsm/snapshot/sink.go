package snapshot

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Sink adds one snapshot to the store: from a stream, or from an existing directory. It implements
// raft.SnapshotSink; only one goroutine may use it.
type Sink struct {
	Store    *Store
	meta     raft.SnapshotMeta
	dir      string    // temporary; removed or renamed when the sink is closed
	receiver *Receiver // nil once a directory was adopted
	header   *snapfile.SnapshotHeader
	encoded  []byte
	closed   bool
	err      error // of the first Close
}

var errSinkClosed = errors.New("the snapshot's sink is closed")

// ID implements raft.SnapshotSink.
func (s *Sink) ID() string { return s.meta.ID }

// Write implements io.Writer: it takes the stream of a snapshot.
func (s *Sink) Write(p []byte) (int, error) {
	if s.closed || s.receiver == nil {
		return 0, errSinkClosed
	}
	return s.receiver.Write(p)
}

// Adopt moves the files in dir, which are durable, into the snapshot, instead of a stream.
func (s *Sink) Adopt(dir string, h *snapfile.SnapshotHeader) error {
	if s.closed || s.receiver == nil || s.receiver.Header != nil {
		return errSinkClosed
	}
	encoded, err := EncodeHeader(h)
	if err != nil {
		return err
	}
	fs := s.Store.fs
	if err := fs.Rename(dir, fs.PathJoin(s.dir, DataDir)); err != nil {
		return fmt.Errorf("move files into the snapshot: %w", err)
	}
	s.receiver, s.header, s.encoded = nil, h, encoded
	return nil
}

// Close implements io.Closer: the snapshot is then complete and durable, or removed. Later calls
// return the same error.
func (s *Sink) Close() error {
	if s.closed {
		return s.err
	}
	s.closed = true
	if s.err = s.keep(); s.err != nil {
		s.err = errors.Join(s.err, s.discard())
	}
	return s.err
}

func (s *Sink) keep() error {
	if s.receiver != nil {
		if err := s.receiver.Finish(); err != nil {
			return err
		}
		s.header, s.encoded = s.receiver.Header, s.receiver.Encoded
	}
	if s.header.Index > s.meta.Index {
		return fmt.Errorf("snapshot at index %d holds state up to index %d", s.meta.Index, s.header.Index)
	}
	fs := s.Store.fs
	meta, err := encodeMeta(s.meta)
	if err != nil {
		return err
	}
	if err := storage.WriteFile(fs, fs.PathJoin(s.dir, headerFile), s.encoded); err != nil {
		return err
	}
	if err := storage.WriteFile(fs, fs.PathJoin(s.dir, metaFile), meta); err != nil {
		return err
	}
	s.meta.Size = StreamBytes(s.encoded, s.header)
	held := &Held{Meta: s.meta, Header: s.header, Encoded: s.encoded, Dir: fs.PathJoin(s.Store.dir, s.meta.ID)}
	return s.Store.add(s.dir, held)
}

// Cancel implements raft.SnapshotSink: it removes the snapshot.
func (s *Sink) Cancel() error {
	if s.closed {
		return nil
	}
	s.closed, s.err = true, errSinkClosed
	return s.discard()
}

func (s *Sink) discard() error {
	if s.receiver != nil {
		s.receiver.Close()
	}
	if err := s.Store.fs.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("discard snapshot: %w", err)
	}
	return nil
}
