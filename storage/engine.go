package storage

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/go-hclog"

	"dormouse/internal/descriptors"
)

// Options configure an engine. The zero value is on disk with default sizes.
type Options struct {
	FS            FS           // nil means Disk
	CacheBytes    int64        // memtables, and uncompressed blocks in the remaining space; 0 means CacheBytesDefault
	MemTableBytes uint64       // written before a flush begins; 0 means MemTableBytesDefault
	ReadOnly      bool         // nothing is changed, and no lock taken
	Existing      bool         // a missing engine is damage, and not created
	Fatal         func(error)  // called with the first background error, once; nil panics
	Logger        hclog.Logger // nil is silent
}

const (
	// CacheBytesDefault bounds an engine's memory: memtables, usually two, and blocks in the
	// remaining space.
	CacheBytesDefault = 128 << 20
	// MemTableBytesDefault is how many bytes an engine collects before it flushes. With up to
	// memTablesMax memtables it bounds memory and the replay after a crash.
	MemTableBytesDefault = 32 << 20

	memTablesMax    = 4                // beyond it a commit waits for a flush
	l0CompactAt     = 8                // half as many sublevels of L0 start a compaction, since Pebble counts each twice; fewer would write more with such small memtables
	l0StopAt        = 24               // sublevels of L0 at which commits wait
	openFilesMax    = 4096             // table files held open
	blockBytes      = 16 << 10         // a page of entries fits a few blocks
	bloomBits       = 10               // bits per key: 1 % false positives
	diskHangMax     = 20 * time.Second // a write that takes longer, and goes on, has failed
	cacheBytesLeast = 1 << 20
)

// Engine is one open directory. All methods may be called concurrently, except Close, which must be
// the last call.
type Engine struct {
	db    *pebble.DB
	disk  io.Closer // the health checks of a real disk; may be nil
	alarm *alarm
	hangs hangs

	stalls atomic.Int64 // number of times that commits began to wait
}

// alarm reports the first background error, and ignores later ones.
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

// Open opens the engine in dir, and creates it if it does not exist.
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
			e.noteSlow(dir, slow, time.Now(), o.Logger)
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
	l := logger{log: o.Logger, alarm: e.alarm}
	if simulated, is := o.FS.(Ender); is {
		l.end = simulated.End
	}
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
		MaxOpenFiles:                descriptors.EngineFiles(descriptors.Limit(), openFilesMax),
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      l,
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = blockBytes
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	var lack shortage
	p.EventListener = &pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { e.stalls.Add(1) },
		BackgroundError: func(err error) {
			if Exhausted(err) {
				first, over := lack.note(time.Now())
				if first {
					o.Logger.Warn("background work waits for file descriptors or memory", "dir", dir, "error", err)
				}
				if !over {
					return
				}
			}
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
	if errors.As(err, &system) && system != syscall.ENOENT { // the files may be intact
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

// isLockError reports whether the lock is held. The text is Pebble's if this process holds it.
func isLockError(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

// Commit applies a batch atomically, in memory: a crash may lose it and all later commits. The
// batch must only be closed afterwards.
func (e *Engine) Commit(b *Batch) error {
	if err := e.db.Apply(b.batch, pebble.NoSync); err != nil {
		return fmt.Errorf("commit: %w", marked(err))
	}
	return nil
}

// Flush makes all earlier commits durable.
func (e *Engine) Flush() error {
	if err := e.db.Flush(); err != nil {
		return fmt.Errorf("flush: %w", marked(err))
	}
	return nil
}

// Checkpoint creates dir, which must not exist, as a durable engine directory with all earlier
// commits, with hard links if the FS supports them. Commits during the call may be in it or not, so
// a caller that needs an exact cut commits nothing meanwhile. After an error dir may have files left.
func (e *Engine) Checkpoint(dir string) error {
	if err := e.Flush(); err != nil {
		return err
	}
	if err := unlessPanic(func() error { return e.db.Checkpoint(dir) }); err != nil {
		return fmt.Errorf("checkpoint into %s: %w", dir, marked(err))
	}
	return nil
}

// unlessPanic returns the error of do, also one that do panics with: Pebble panics if it cannot sync
// the directory of a copy, which harms nothing but the copy. Errors of the runtime go on as panics.
func unlessPanic(do func() error) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case runtime.Error:
			panic(failed)
		case error:
			err = failed
		default:
			panic(failed)
		}
	}()
	return do()
}

// View returns the engine's current state, which later commits do not change. It must be closed
// before the engine.
func (e *Engine) View() *View { return &View{snapshot: e.db.NewSnapshot()} }

// Close closes the engine. It does not flush; call Flush first.
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
