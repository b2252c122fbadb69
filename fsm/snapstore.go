package fsm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/fsm/command"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// Files of the snapshot store's directory. A snapshot is a directory with the
// header and meta that describe it and a directory of data; it is made under a
// temporary name and renamed when it is whole and durable, so what bears
// another name is whole.
const (
	temporarySuffix = ".tmp"
	headerFile      = "HEADER"
	metaFile        = "META"
	dataDir         = "data"
	metaBytesMax    = 1 << 20
)

// snapshotsRetained is how many snapshots are kept: the newest, and the one
// before it should a follower still be reading it.
const snapshotsRetained = 2

// snapshotStore keeps Raft's snapshots: directories of an engine's files. It
// implements raft.SnapshotStore; all methods may be called concurrently.
//
// A snapshot that is being read stays until it has been. The store never takes
// one of a lower index than it has: neither a slow persist nor a delayed
// install may turn the state back.
type snapshotStore struct {
	fs     storage.FS
	dir    string
	accept func(*logpb.SnapshotHeader) error // a word on what is received
	logger hclog.Logger

	mu     sync.Mutex
	held   []*heldSnapshot // newest first; guarded by mu
	serial uint64          // of the last name given out; guarded by mu
}

// heldSnapshot is a whole snapshot in the store.
type heldSnapshot struct {
	meta    raft.SnapshotMeta
	header  *logpb.SnapshotHeader
	encoded []byte // the header as the stream begins with it
	dir     string

	pins   int  // readers; guarded by the store's mu
	doomed bool // goes when pins is 0; guarded by the store's mu
}

// openSnapshots opens the store in dir, making it where there is none, and
// cleans up what was never finished.
func openSnapshots(fs storage.FS, dir string, accept func(*logpb.SnapshotHeader) error, logger hclog.Logger) (*snapshotStore, error) {
	s := &snapshotStore{fs: fs, dir: dir, accept: accept, logger: logger}
	if err := storage.MakeDir(fs, dir); err != nil {
		return nil, err
	}
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		if strings.HasSuffix(name, temporarySuffix) {
			if err := fs.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("remove unfinished snapshot: %w", err)
			}
			continue
		}
		held, err := readHeld(fs, path)
		if err != nil {
			return nil, damagedSnapshot(err)
		}
		s.serial = max(s.serial, serialOf(name))
		s.held = append(s.held, held)
	}
	s.sort()
	return s, s.reap()
}

// readHeld reads what describes the snapshot in dir.
func readHeld(fs storage.FS, dir string) (*heldSnapshot, error) {
	meta, err := readMeta(fs, fs.PathJoin(dir, metaFile))
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %s: %w", dir, metaFile, err)
	}
	encoded, err := storage.ReadFile(fs, fs.PathJoin(dir, headerFile), prefixBytes+headerMax)
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %w", dir, err)
	}
	header, err := parseHeader(encoded)
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %s: %w", dir, headerFile, err)
	}
	meta.ID, meta.Size = fs.PathBase(dir), streamBytes(encoded, header)
	return &heldSnapshot{meta: meta, header: header, encoded: encoded, dir: dir}, nil
}

// damagedSnapshot is err as damage, unless the operating system or a newer
// version is behind it. What bears a snapshot's name was whole once.
func damagedSnapshot(err error) error {
	var system syscall.Errno
	if errors.Is(err, ErrForeign) || errors.As(err, &system) && system != syscall.ENOENT {
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrDamaged, err)
}

// parseHeader parses an encoded header that is whole.
func parseHeader(encoded []byte) (*logpb.SnapshotHeader, error) {
	if len(encoded) < prefixBytes {
		return nil, errors.New("snapshot header is cut short")
	}
	length, err := headerLength(encoded)
	if err != nil {
		return nil, err
	}
	if len(encoded) != prefixBytes+length {
		return nil, errors.New("snapshot header is cut short")
	}
	return decodeHeader(encoded[:prefixBytes], encoded[prefixBytes:])
}

// The meta file holds a CRC-32C in hex, a line break, and Raft's meta as JSON.
func encodeMeta(meta raft.SnapshotMeta) ([]byte, error) {
	body, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode snapshot meta: %w", err)
	}
	return fmt.Appendf(nil, "%08x\n%s", crc32.Checksum(body, command.Castagnoli), body), nil
}

func readMeta(fs storage.FS, path string) (raft.SnapshotMeta, error) {
	raw, err := storage.ReadFile(fs, path, metaBytesMax)
	if err != nil {
		return raft.SnapshotMeta{}, err
	}
	sum, body, _ := bytes.Cut(raw, []byte("\n"))
	if string(sum) != fmt.Sprintf("%08x", crc32.Checksum(body, command.Castagnoli)) {
		return raft.SnapshotMeta{}, errors.New("its meta is damaged: the checksum does not match")
	}
	var meta raft.SnapshotMeta
	if err := json.Unmarshal(body, &meta); err != nil {
		return raft.SnapshotMeta{}, fmt.Errorf("its meta is damaged: %w", err)
	}
	return meta, nil
}

func serialOf(name string) uint64 {
	serial, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return serial
}

// sort puts the newest first: by term, then by index, then by when it came.
func (s *snapshotStore) sort() {
	slices.SortFunc(s.held, func(a, b *heldSnapshot) int {
		return cmp.Or(
			cmp.Compare(b.meta.Term, a.meta.Term),
			cmp.Compare(b.meta.Index, a.meta.Index),
			cmp.Compare(serialOf(b.meta.ID), serialOf(a.meta.ID)),
		)
	})
}

// reap removes the snapshots past those retained. mu is held, or there is
// nobody else yet.
func (s *snapshotStore) reap() error {
	for i, held := range s.held {
		held.doomed = i >= snapshotsRetained
	}
	var errs []error
	s.held = slices.DeleteFunc(s.held, func(held *heldSnapshot) bool {
		if !held.doomed || held.pins > 0 {
			return false
		}
		errs = append(errs, s.remove(held.dir))
		return true
	})
	return errors.Join(errs...)
}

// remove renames first, so that a crash leaves no half of a snapshot under its
// own name.
func (s *snapshotStore) remove(dir string) error {
	err := s.fs.Rename(dir, dir+temporarySuffix)
	if err == nil {
		err = storage.SyncDir(s.fs, s.dir)
	}
	if err == nil {
		err = s.fs.RemoveAll(dir + temporarySuffix)
	}
	if err != nil {
		return fmt.Errorf("remove snapshot: %w", err)
	}
	return nil
}

// Create implements raft.SnapshotStore.
func (s *snapshotStore) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses(index); err != nil {
		return nil, err
	}
	s.serial++
	meta := raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d-%d", term, index, s.serial), Index: index, Term: term,
		Configuration: configuration, ConfigurationIndex: configurationIndex,
	}
	temporary := s.fs.PathJoin(s.dir, meta.ID+temporarySuffix)
	if err := storage.MakeDir(s.fs, temporary); err != nil {
		return nil, err
	}
	return &sink{
		store: s, meta: meta, dir: temporary,
		receiver: newReceiver(s.fs, s.fs.PathJoin(temporary, dataDir), s.accept),
	}, nil
}

// refuses tells why a snapshot at index has no place here, if it has none. mu
// is held.
func (s *snapshotStore) refuses(index uint64) error {
	for _, held := range s.held {
		if held.meta.Index > index {
			return fmt.Errorf("snapshot at index %d is older than the one at %d that is here", index, held.meta.Index)
		}
	}
	return nil
}

// List implements raft.SnapshotStore: newest first.
func (s *snapshotStore) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metas := make([]*raft.SnapshotMeta, 0, snapshotsRetained)
	for _, held := range s.held {
		if !held.doomed {
			meta := held.meta
			metas = append(metas, &meta)
		}
	}
	return metas, nil
}

// newest is the newest snapshot; nil where there is none.
func (s *snapshotStore) newest() *heldSnapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return nil
	}
	return s.held[0]
}

// Open implements raft.SnapshotStore. The snapshot stays until the reader is
// closed.
func (s *snapshotStore) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, held := range s.held {
		if held.meta.ID == id && !held.doomed {
			held.pins++
			meta := held.meta
			return &meta, &snapshotReader{
				streamReader: newStreamReader(s.fs, s.fs.PathJoin(held.dir, dataDir), held.encoded, held.header),
				store:        s, held: held,
			}, nil
		}
	}
	return nil, nil, fmt.Errorf("snapshot %s is not here", id)
}

// unpin lets go of a snapshot that was read.
func (s *snapshotStore) unpin(held *heldSnapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held.pins--
	if held.doomed && held.pins == 0 {
		return s.reap()
	}
	return nil
}

// add takes in the snapshot whose temporary directory is whole and durable.
func (s *snapshotStore) add(temporary string, held *heldSnapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses(held.meta.Index); err != nil {
		return err
	}
	if err := s.fs.Rename(temporary, held.dir); err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	if err := storage.SyncDir(s.fs, s.dir); err != nil {
		return err
	}
	s.held = append(s.held, held)
	s.sort()
	if err := s.reap(); err != nil {
		s.logger.Warn("an old snapshot could not be removed; the next start tries again", "error", err)
	}
	return nil
}

// snapshotReader reads a held snapshot's stream, and knows where its files are.
type snapshotReader struct {
	*streamReader
	store  *snapshotStore
	held   *heldSnapshot
	closed bool
}

// Close implements io.Closer.
func (r *snapshotReader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return errors.Join(r.streamReader.Close(), r.store.unpin(r.held))
}
