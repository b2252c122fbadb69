package storage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"dormouse/storage"
)

// gated blocks the creation of tables until its gate opens.
type gated struct {
	storage.FS
	gate chan struct{}
}

// Create implements storage.FS.
func (g gated) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") {
		<-g.gate
	}
	return g.FS.Create(name, category)
}

// openRoomy opens an engine with room for blocks besides memtables of 4 MiB.
func openRoomy(t *testing.T, fs storage.FS) *storage.Engine {
	t.Helper()
	e, err := storage.Open("engine", storage.Options{FS: fs, MemTableBytes: 4 << 20, CacheBytes: 64 << 20, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// fill commits a MiB under a key.
func fill(t *testing.T, e *storage.Engine, key string) {
	t.Helper()
	set(t, e, key, strings.Repeat(key[:1], 1<<20))
}

func TestMetricsFollowWhatTheEngineDoes(t *testing.T) {
	e := openRoomy(t, vfs.NewMem())
	defer closeEngine(t, e)
	empty := e.Metrics()
	fill(t, e, "a")
	if m := e.Metrics(); m.MemTableBytes == 0 || m.Flushes != 0 || m.FlushBytes != 0 {
		t.Errorf("before a flush: %+v", m)
	}
	flush := func() {
		t.Helper()
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	flush()
	m := e.Metrics()
	if m.Flushes != 1 || m.FlushBytes == 0 || m.DiskBytes <= empty.DiskBytes || m.L0Sublevels != 1 {
		t.Errorf("after a flush: %+v", m)
	}
	for range 2 {
		if _, ok, err := e.Get([]byte("a")); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if m := e.Metrics(); m.CacheMisses == 0 || m.CacheHits == 0 || m.CacheBytes == 0 {
		t.Errorf("after two reads: %+v", m)
	}
	for i := 0; e.Metrics().CompactionBytes == 0; i++ { // commits wait at l0StopAt, so a compaction ends
		if i == 100 {
			t.Fatalf("no compaction after %d flushes: %+v", i, e.Metrics())
		}
		fill(t, e, "a")
		flush()
	}
	if m := e.Metrics(); m.Compactions == 0 {
		t.Errorf("after a compaction: %+v", m)
	}
}

// Commits wait if flushes are too slow, and this is counted.
func TestStallsAreCounted(t *testing.T) {
	fs := gated{vfs.NewMem(), make(chan struct{})}
	e := openRoomy(t, fs)
	defer closeEngine(t, e)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 64 {
			b := e.NewBatch()
			b.Set(fmt.Appendf(nil, "key-%d", i), make([]byte, 1<<20))
			if err := e.Commit(b); err != nil {
				t.Error(err)
			}
			b.Close()
		}
	}()
	for e.Metrics().Stalls == 0 {
		select {
		case <-done:
			t.Fatal("64 MiB went into memtables of 4 MiB that are never flushed")
		case <-time.After(time.Millisecond):
		}
	}
	close(fs.gate)
	<-done
}
