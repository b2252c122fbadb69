package snapshot

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
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Files of the snapshot store's directory. A snapshot is a directory with a header, Raft's meta,
// and a directory of data. It is created under a temporary name and renamed when it is complete and
// durable. So a snapshot without a temporary name is complete.
const (
	TemporarySuffix = ".tmp"
	headerFile      = "HEADER"
	metaFile        = "META"
	DataDir         = "data"
	metaBytesMax    = 1 << 20
)

// Retained is how many snapshots are kept: the newest, and the one before it, which a follower may
// still be reading.
const Retained = 2

// Store keeps Raft's snapshots: directories of an engine's files. It implements raft.SnapshotStore;
// all methods may be called concurrently.
//
// A snapshot stays while it is being read. The store never accepts a snapshot with a lower index
// than it has: neither a slow persist nor a delayed install may move the state back.
type Store struct {
	fs     storage.FS
	dir    string
	accept func(*snapfile.SnapshotHeader) error // accepts or rejects a received header
	logger hclog.Logger

	mu     sync.Mutex
	held   []*Held // newest first; guarded by mu
	serial uint64  // of the last assigned name; guarded by mu
}

// Held is a complete snapshot in the store.
type Held struct {
	Meta    raft.SnapshotMeta
	Header  *snapfile.SnapshotHeader
	Encoded []byte // the header as at the beginning of the stream
	Dir     string

	pins   int  // readers; guarded by the store's mu
	doomed bool // removed when pins is 0; guarded by the store's mu
}

// OpenStore opens the store in dir, creates it if it does not exist, and removes unfinished
// snapshots.
func OpenStore(fs storage.FS, dir string, accept func(*snapfile.SnapshotHeader) error, logger hclog.Logger) (*Store, error) {
	s := &Store{fs: fs, dir: dir, accept: accept, logger: logger}
	if err := storage.MakeDir(fs, dir); err != nil {
		return nil, err
	}
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		if strings.HasSuffix(name, TemporarySuffix) {
			if err := fs.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("remove unfinished snapshot: %w", err)
			}
			continue
		}
		held, err := ReadHeld(fs, path)
		if err != nil {
			return nil, damagedSnapshot(err)
		}
		s.serial = max(s.serial, serialOf(name))
		s.held = append(s.held, held)
	}
	s.sort()
	return s, s.reap()
}

// ReadHeld reads the description of the snapshot in dir.
func ReadHeld(fs storage.FS, dir string) (*Held, error) {
	meta, err := readMeta(fs, fs.PathJoin(dir, metaFile))
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %s: %w", dir, metaFile, err)
	}
	encoded, err := storage.ReadFile(fs, fs.PathJoin(dir, headerFile), PrefixBytes+headerMax)
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %w", dir, err)
	}
	header, err := parseHeader(encoded)
	if err != nil {
		return nil, fmt.Errorf("snapshot in %s: %s: %w", dir, headerFile, err)
	}
	meta.ID, meta.Size = fs.PathBase(dir), StreamBytes(encoded, header)
	return &Held{Meta: meta, Header: header, Encoded: encoded, Dir: dir}, nil
}

// damagedSnapshot marks err as damage, unless the operating system or a newer version is the cause.
// A directory with a snapshot's name was complete once.
func damagedSnapshot(err error) error {
	var system syscall.Errno
	if errors.Is(err, storage.ErrForeign) || errors.As(err, &system) && system != syscall.ENOENT {
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrDamaged, err)
}

// parseHeader parses a complete encoded header.
func parseHeader(encoded []byte) (*snapfile.SnapshotHeader, error) {
	if len(encoded) < PrefixBytes {
		return nil, errors.New("snapshot header is cut short")
	}
	length, err := HeaderLength(encoded)
	if err != nil {
		return nil, err
	}
	if len(encoded) != PrefixBytes+length {
		return nil, errors.New("snapshot header is cut short")
	}
	return DecodeHeader(encoded[:PrefixBytes], encoded[PrefixBytes:])
}

// encodeMeta returns the content of the meta file: a CRC-32C in hex, a line break, and Raft's meta as
// JSON.
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

// sort orders snapshots newest first: by term, then by index, then by arrival.
func (s *Store) sort() {
	slices.SortFunc(s.held, func(a, b *Held) int {
		return cmp.Or(
			cmp.Compare(b.Meta.Term, a.Meta.Term),
			cmp.Compare(b.Meta.Index, a.Meta.Index),
			cmp.Compare(serialOf(b.Meta.ID), serialOf(a.Meta.ID)),
		)
	})
}

// reap removes the snapshots beyond those retained. Callers hold mu, or no other goroutine has the
// store yet.
func (s *Store) reap() error {
	for i, held := range s.held {
		held.doomed = i >= Retained
	}
	var errs []error
	s.held = slices.DeleteFunc(s.held, func(held *Held) bool {
		if !held.doomed || held.pins > 0 {
			return false
		}
		errs = append(errs, s.remove(held.Dir))
		return true
	})
	return errors.Join(errs...)
}

// remove renames first, so that a crash leaves no partial snapshot under its own name.
func (s *Store) remove(dir string) error {
	err := s.fs.Rename(dir, dir+TemporarySuffix)
	if err == nil {
		err = storage.SyncDir(s.fs, s.dir)
	}
	if err == nil {
		err = s.fs.RemoveAll(dir + TemporarySuffix)
	}
	if err != nil {
		return fmt.Errorf("remove snapshot: %w", err)
	}
	return nil
}

// Create implements raft.SnapshotStore.
func (s *Store) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
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
	temporary := s.fs.PathJoin(s.dir, meta.ID+TemporarySuffix)
	if err := storage.MakeDir(s.fs, temporary); err != nil {
		return nil, err
	}
	return &Sink{
		Store: s, meta: meta, dir: temporary,
		receiver: NewReceiver(s.fs, s.fs.PathJoin(temporary, DataDir), s.accept),
	}, nil
}

// refuses returns an error if the store must not accept a snapshot at index. Callers hold mu.
func (s *Store) refuses(index uint64) error {
	for _, held := range s.held {
		if held.Meta.Index > index {
			return fmt.Errorf("snapshot at index %d is older than the stored one at %d", index, held.Meta.Index)
		}
	}
	return nil
}

// List implements raft.SnapshotStore: newest first.
func (s *Store) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	metas := make([]*raft.SnapshotMeta, 0, Retained)
	for _, held := range s.held {
		if !held.doomed {
			meta := held.Meta
			metas = append(metas, &meta)
		}
	}
	return metas, nil
}

// Newest returns the newest snapshot; nil if there is none.
func (s *Store) Newest() *Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return nil
	}
	return s.held[0]
}

// Open implements raft.SnapshotStore. The snapshot stays until the reader is closed.
func (s *Store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, held := range s.held {
		if held.Meta.ID == id && !held.doomed {
			held.pins++
			meta := held.Meta
			return &meta, &Reader{
				streamReader: NewStreamReader(s.fs, s.fs.PathJoin(held.Dir, DataDir), held.Encoded, held.Header),
				Store:        s, Held: held,
			}, nil
		}
	}
	return nil, nil, fmt.Errorf("there is no snapshot %s", id)
}

// unpin releases a snapshot after a read.
func (s *Store) unpin(held *Held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held.pins--
	if held.doomed && held.pins == 0 {
		return s.reap()
	}
	return nil
}

// add adds the snapshot whose temporary directory is complete and durable.
func (s *Store) add(temporary string, held *Held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses(held.Meta.Index); err != nil {
		return err
	}
	if err := s.fs.Rename(temporary, held.Dir); err != nil {
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

// Reader reads a held snapshot's stream, and knows the location of its files.
type Reader struct {
	*streamReader
	Store  *Store
	Held   *Held
	closed bool
}

// Close implements io.Closer.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return errors.Join(r.streamReader.Close(), r.Store.unpin(r.Held))
}
