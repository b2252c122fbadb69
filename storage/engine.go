package storage

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/go-hclog"
)

// Options say how an engine is opened. The zero value is on disk with default
// sizes.
type Options struct {
	FS            FS           // nil means Disk
	CacheBytes    int64        // of memtables, and of uncompressed blocks in what those leave; 0 means CacheBytesDefault
	MemTableBytes uint64       // written before a flush begins; 0 means MemTableBytesDefault
	ReadOnly      bool         // nothing is changed, not even a lock taken
	Existing      bool         // an engine that is not there is damage, not a new one
	Fatal         func(error)  // told the first background error, once; nil panics
	Logger        hclog.Logger // nil is silent
}

const (
	// CacheBytesDefault bounds what an engine keeps in memory: memtables, of
	// which there are two as a rule, and blocks in what they leave.
	CacheBytesDefault = 128 << 20
	// MemTableBytesDefault is how much an engine holds before it flushes. With
	// up to memTablesMax of them it bounds both memory and what is replayed
	// after a crash.
	MemTableBytesDefault = 32 << 20

	memTablesMax    = 4                // past it a commit waits for a flush
	l0CompactAt     = 8                // half as many sublevels of L0 start a compaction: Pebble counts each twice; fewer of so small memtables write more
	l0StopAt        = 24               // sublevels of L0 at which commits wait
	openFilesMax    = 4096             // table files held open
	blockBytes      = 16 << 10         // a page of entries fits a few blocks
	bloomBits       = 10               // a key: 1 % false positives
	diskHangMax     = 20 * time.Second // a write that takes longer has failed
	cacheBytesLeast = 1 << 20
)

// Engine is one open directory. All methods may be called concurrently, but
// for Close, which must be the last.
type Engine struct {
	db    *pebble.DB
	disk  io.Closer // the health checks of a real disk; may be nil
	alarm *alarm

	stalls atomic.Int64 // times that commits began to wait
}

// alarm tells the first background error and keeps quiet afterwards.
type alarm struct {
	once  sync.Once
	fatal func(error)
}

func (a *alarm) raise(err error) {
	a.once.Do(func() {
		if a.fatal == nil {
			panic(err)
		}
		a.fatal(err)
	})
}

// Open opens the engine in dir, making it if there is none.
func Open(dir string, o Options) (*Engine, error) {
	if o.FS == nil {
		o.FS = Disk
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	e := &Engine{alarm: &alarm{fatal: o.Fatal}}
	fs := o.FS
	if fs == Disk {
		fs, e.disk = vfs.WithDiskHealthChecks(fs, diskHangMax, nil, func(slow vfs.DiskSlowInfo) {
			e.alarm.raise(fmt.Errorf("engine in %s: the disk hangs: %s", dir, slow.String()))
		})
	}
	cache := pebble.NewCache(max(orDefault(o.CacheBytes, CacheBytesDefault), cacheBytesLeast))
	defer cache.Unref() // the engine holds its own reference
	db, err := pebble.Open(dir, e.options(fs, cache, dir, o))
	if err != nil {
		err = errors.Join(openError(dir, err), e.closeDisk())
		return nil, err
	}
	e.db = db
	return e, nil
}

func (e *Engine) options(fs FS, cache *pebble.Cache, dir string, o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                          fs,
		Cache:                       cache,
		DisableWAL:                  true,
		ReadOnly:                    o.ReadOnly,
		ErrorIfNotExists:            o.ReadOnly || o.Existing,
		FormatMajorVersion:          pebble.FormatNewest,
		Comparer:                    pebble.DefaultComparer,
		MemTableSize:                orDefault(o.MemTableBytes, MemTableBytesDefault),
		MemTableStopWritesThreshold: memTablesMax,
		L0CompactionThreshold:       l0CompactAt,
		L0StopWritesThreshold:       l0StopAt,
		MaxOpenFiles:                openFilesMax,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      logger{log: o.Logger, alarm: e.alarm},
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	p.EventListener = &pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { e.stalls.Add(1) },
		BackgroundError: func(err error) {
			e.alarm.raise(fmt.Errorf("engine in %s: background work failed: %w", dir, marked(err)))
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			e.alarm.raise(fmt.Errorf("engine in %s: %w: %s", dir, ErrDamaged, info.String()))
		},
	}
	return p
}

func orDefault[T int64 | uint64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func openError(dir string, err error) error {
	if isLockError(err) {
		return lockError(dir, err)
	}
	var system syscall.Errno
	if errors.As(err, &system) && system != syscall.ENOENT { // what is on the disk may be whole
		return fmt.Errorf("open engine in %s: %w", dir, err)
	}
	return fmt.Errorf("open engine in %s: %w: %w", dir, ErrDamaged, err)
}

func lockError(dir string, err error) error {
	if isLockError(err) {
		return fmt.Errorf("lock %s: %w (%w)", dir, ErrLocked, err)
	}
	return fmt.Errorf("lock %s: %w", dir, err)
}

// isLockError holds where another holds the lock; the text is what Pebble says
// when that is this very process.
func isLockError(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

// Commit applies a batch, all or nothing, in memory: a crash may lose it, and
// then all that was committed after it. The batch must not be used again but
// for Close.
func (e *Engine) Commit(b *Batch) error {
	if err := e.db.Apply(b.batch, pebble.NoSync); err != nil {
		return fmt.Errorf("commit: %w", marked(err))
	}
	return nil
}

// Flush makes all that was committed before it durable.
func (e *Engine) Flush() error {
	if err := e.db.Flush(); err != nil {
		return fmt.Errorf("flush: %w", marked(err))
	}
	return nil
}

// Checkpoint makes dir, which must not exist, an engine's directory with all
// that was committed before the call, durable, in hard links where the FS has
// them. What is committed during the call may be in it or not, so a caller who
// needs an exact cut commits nothing meanwhile.
func (e *Engine) Checkpoint(dir string) error {
	if err := e.Flush(); err != nil {
		return err
	}
	if err := e.db.Checkpoint(dir); err != nil {
		return fmt.Errorf("checkpoint into %s: %w", dir, marked(err))
	}
	return nil
}

// View is the engine as of now, unchanged by what is committed later. It must
// be closed, before the engine is.
func (e *Engine) View() *View { return &View{snapshot: e.db.NewSnapshot()} }

// Close closes the engine. What was not flushed is flushed by Flush alone.
func (e *Engine) Close() error {
	if err := errors.Join(e.db.Close(), e.closeDisk()); err != nil {
		return fmt.Errorf("close engine: %w", err)
	}
	return nil
}

func (e *Engine) closeDisk() error {
	if e.disk == nil {
		return nil
	}
	return e.disk.Close()
}
