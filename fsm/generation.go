package fsm

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"dormouse/fsm/kv"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// generation is one engine directory in use. A restore creates the next one; the old one is closed
// when its last reader is done.
type generation struct {
	engine *storage.Engine
	fs     storage.FS
	dir    string
	warm   *kv.ReadCache
	warn   func(error) // called with an error of closing or removing it

	mu      sync.Mutex
	readers int                               // guarded by mu
	retired bool                              // guarded by mu: no new readers; the last release closes it
	remove  bool                              // guarded by mu: also removes the directory
	gone    chan struct{}                     // closed when the engine has been closed
	known   map[string]*snapfile.SnapshotFile // :: name → description from an earlier cut; guarded by mu
}

func newGeneration(fs storage.FS, dir string, engine *storage.Engine, readRows int64, warn func(error)) *generation {
	return &generation{
		engine: engine, fs: fs, dir: dir, warm: kv.NewReadCache(readRows), warn: warn,
		gone: make(chan struct{}), known: make(map[string]*snapfile.SnapshotFile),
	}
}

// acquire keeps the generation's engine open until release. It returns false if the generation has
// been retired: use the current one.
func (g *generation) acquire() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.retired {
		return false
	}
	g.readers++
	return true
}

// release undoes one acquire.
func (g *generation) release() {
	g.mu.Lock()
	g.readers--
	last := g.retired && g.readers == 0
	g.mu.Unlock()
	if last {
		g.end()
	}
}

// retire ends the generation and removes its directory, at once or when its last reader is done.
func (g *generation) retire() { g.leave(true) }

// close ends the generation, keeps its directory, and waits for its readers.
func (g *generation) close() {
	g.leave(false)
	<-g.gone
}

func (g *generation) leave(remove bool) {
	g.mu.Lock()
	g.retired, g.remove = true, remove
	last := g.readers == 0
	g.mu.Unlock()
	if last {
		g.end()
	}
}

// end closes the engine. It is called once, by the last release of the retired generation or by
// leave.
func (g *generation) end() {
	defer close(g.gone)
	err := g.engine.Close()
	if g.remove {
		err = errors.Join(err, g.fs.RemoveAll(g.dir))
	}
	if err != nil {
		g.warn(fmt.Errorf("end of the engine in %s: %w", g.dir, err))
	}
}

// described returns the descriptions of the engine's files from earlier cuts.
func (g *generation) described() map[string]*snapfile.SnapshotFile {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.known)
}

// describe replaces the kept descriptions by those of a cut's files.
func (g *generation) describe(files []*snapfile.SnapshotFile) {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.known)
	for _, f := range files {
		g.known[f.Name] = f
	}
}
