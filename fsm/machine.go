package fsm

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/kv"
	"dormouse/fsm/memory"
	"dormouse/fsm/txn"
	"dormouse/fsm/watch"
	"dormouse/internal/logchain"
	"dormouse/internal/seededbug"
	"dormouse/recall"
	"dormouse/storage"
)

// Options configure a machine. Only Dir is required; the defaults are the disk and default sizes.
type Options struct {
	Dir       string        // the machine's own directory: engine and snapshots
	FS        storage.FS    // nil means the disk
	Caches    Caches        // the bounds of what it keeps in memory
	ClusterID func() string // called when a snapshot is cut; nil means ""
	Fatal     func(error)   // called with the first error after which this replica must not answer; nil panics
	Logger    hclog.Logger  // nil is silent

	EachDecides bool // entries hold commits, which each replica decides: see Machine.Pack
}

// Caches are the sizes in bytes of what a machine keeps in memory. As options they are bounds, of
// which 0 means the default.
type Caches struct {
	Engine    int64  // memtables, and blocks of tables in the remaining space
	MemTable  uint64 // of that, one memtable
	ApplyRows int64  // rows that apply uses repeatedly
	ReadRows  int64  // rows that reads use repeatedly
	Indexes   int64  // indexes of agents' memories
}

// orDefault returns c with the defaults.
func (c Caches) orDefault() Caches {
	return Caches{
		Engine:    cmp.Or(c.Engine, storage.CacheBytesDefault),
		MemTable:  cmp.Or(c.MemTable, storage.MemTableBytesDefault),
		ApplyRows: cmp.Or(c.ApplyRows, kv.ApplyCacheBytes),
		ReadRows:  cmp.Or(c.ReadRows, kv.ReadCacheBytes),
		Indexes:   cmp.Or(c.Indexes, memory.RecallBytes),
	}
}

// newRecalls returns an empty cache of indexes of memories.
func newRecalls(o Options) *recall.Cache { return recall.NewCache(int(o.Caches.Indexes)) }

// Machine is the state machine of one node: the engine, the in-memory state of apply, and the
// waiters and watchers.
//
// Raft calls Apply, Snapshot and Restore from one goroutine. All other methods may be called
// concurrently, except Close, which must be the last call.
type Machine struct {
	encoders
	watch.Rows
	ruleReader

	options Options
	data    *dataDir      // directories and snapshots
	chains  logchain.Ring // the last entries' chains

	// applying is held while an entry is applied or decided, and while a snapshot replaces the state.
	applying sync.Mutex
	// The next fields are guarded by applying. chainNext is the chain including the entry that is being
	// applied: Apply sets it, write stores it. decision is the entry that Pack has decided last,
	// until another is decided or applied; its changes are in rows.
	decision  *decision
	hot       *kv.ApplyCache
	rows      *kv.Overlay
	chainNext uint32
	opening   txn.TermStart
	mintBase  uint64 // see mint
	defaults  agent.Policy

	imports atomic.Pointer[imports]

	mu       sync.RWMutex
	gen      *generation       // guarded by mu; replaced by adopt
	progress txn.Progress      // guarded by mu; written by the applying goroutine, which may read it without
	due      txn.DueTimes      // guarded by mu, as progress
	members  []layout.Member   // guarded by mu, as progress; in id order, never changed in place
	removed  map[string]string // :: incarnation → id; guarded by mu, as progress
	level    uint32            // guarded by mu, as progress; the feature level
	placed   placed            // guarded by mu, as progress
	leaseDue uint64            // the tick at which the next lease ends; 0 means never; guarded by mu
	// deletions are those under way, and deletionsAt is deletionChanges then. Both are guarded by mu, as
	// progress. deletionChanges increases before the engine has an entry that changes them.
	deletions       *txn.Deletions
	deletionsAt     uint64
	deletionChanges atomic.Uint64

	moved chan struct{} // closed and replaced when placed changes; guarded by mu

	Counters  txn.Counters  // of what was applied; for metrics
	applyRows atomic.Int64  // bytes of hot, after the last entry
	restores  atomic.Uint64 // number of snapshots that replaced the state
	tokens    atomic.Uint64 // changes whenever a token is added or removed

	waiters watch.Index
	recalls *recall.Cache // guarded by mu; replaced by adopt
}

// adopt makes a generation's engine the current one and retires the old. The applying goroutine
// calls it, or Open before that goroutine starts.
func (m *Machine) adopt(g *generation) error {
	done, err := txn.ReadProgress(g.engine)
	if err != nil {
		return err
	}
	roster, err := readRoster(g.engine)
	if err != nil {
		return err
	}
	next, err := txn.ReadDue(g.engine)
	if err != nil {
		return err
	}
	opened, err := txn.ReadTermStart(g.engine)
	if err != nil {
		return err
	}
	owned, err := readPlaced(g.engine)
	if err != nil {
		return err
	}
	imported, err := readImports(g.engine)
	if err != nil {
		return err
	}
	deletions, err := txn.ReadDeletions(g.engine)
	if err != nil {
		return err
	}
	if m.mintBase, err = readMintBase(g.engine); err != nil {
		return err
	}
	if m.defaults, err = txn.ReadDefaultPolicy(kv.EngineRows{Engine: g.engine}); err != nil {
		return err
	}
	m.imports.Store(&imported)
	if m.hot == nil || !seededbug.Is(seededbug.CacheOutlivesInstall) {
		m.hot = kv.NewApplyCache(int(m.options.Caches.ApplyRows))
	}
	m.rows = kv.NewOverlay(m.hot)
	m.applyRows.Store(0)
	m.chains.Reset()
	if m.chainNext = done.Chain; done.Index > 0 {
		m.chains.Add(done.Index, done.Chain) // a leader's stamp may name this entry
	}

	m.mu.Lock()
	old := m.gen
	if old != nil && seededbug.Is(seededbug.DueOutlivesInstall) {
		next = txn.DueTimes{}
	}
	m.gen, m.progress, m.due, m.opening = g, done, next, opened
	m.recalls = newRecalls(m.options) // the state may be a different one
	m.members, m.removed, m.level = roster.members, roster.removed, roster.level
	m.deletions, m.deletionsAt = deletions, m.deletionChanges.Add(1)
	m.showPlaced(owned, opened, m.moved != nil)
	if m.moved == nil {
		m.moved = make(chan struct{})
	}
	m.tokens.Add(2)
	m.mu.Unlock()

	if old != nil {
		old.retire()
	}
	m.waiters.Wake(done.Index)
	watch.WakeAll(&m.Rows)
	return nil
}

// Applied returns the index of the newest entry that views see.
func (m *Machine) Applied() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.progress.Index
}

// WaitApplied returns once a view would see the entry at index, or when ctx ends, with its error.
func (m *Machine) WaitApplied(ctx context.Context, index uint64) error {
	return m.waiters.Wait(ctx, index)
}

// Stamps returns the newest entry's tick and wall time.
func (m *Machine) Stamps() (tick uint64, wall int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.progress.Tick, m.progress.Wall
}

// Chain returns the newest index and the CRC chain over all entries up to it. Equal replicas have
// equal chains.
func (m *Machine) Chain() (index uint64, chain uint32) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.progress.Index, m.progress.Chain
}

// Engine returns the engine's metrics. They restart when a snapshot replaces the state. ok is false
// once the machine is closed.
func (m *Machine) Engine() (storage.Metrics, bool) {
	m.mu.RLock()
	g := m.gen
	ok := g.acquire()
	m.mu.RUnlock()
	if !ok {
		return storage.Metrics{}, false
	}
	defer g.release()
	return g.engine.Metrics(), true
}

// CachesOf returns what a machine's caches hold now, and their bounds; ok is false once it is closed.
func CachesOf(m *Machine) (now, limits Caches, ok bool) {
	engine, ok := m.Engine()
	if !ok {
		return Caches{}, Caches{}, false
	}
	m.mu.RLock()
	rows, recalls := m.gen.warm, m.recalls
	m.mu.RUnlock()
	return Caches{
		Engine: engine.CacheBytes + int64(engine.MemTableBytes), MemTable: engine.MemTableBytes,
		ApplyRows: m.applyRows.Load(), ReadRows: rows.Bytes(), Indexes: int64(recalls.Bytes()),
	}, m.options.Caches, true
}

// fatal reports an error that ends this replica: see Options.Fatal.
func (m *Machine) fatal(err error) {
	if m.options.Fatal == nil {
		panic(fmt.Sprintf("state machine: %v", err))
	}
	m.options.Fatal(err)
}
