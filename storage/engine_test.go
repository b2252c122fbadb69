package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"dormouse/storage"
)

func open(tb testing.TB, fs storage.FS, dir string) *storage.Engine {
	tb.Helper()
	e, err := storage.Open(dir, storage.Options{FS: fs, CacheBytes: 1 << 20, Fatal: func(err error) { tb.Errorf("fatal: %v", err) }})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func closeEngine(tb testing.TB, e *storage.Engine) {
	tb.Helper()
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
}

func commit(tb testing.TB, e *storage.Engine, write func(b *storage.Batch)) {
	tb.Helper()
	b := e.NewBatch()
	defer b.Close()
	write(b)
	if err := e.Commit(b); err != nil {
		tb.Fatal(err)
	}
}

func set(tb testing.TB, e *storage.Engine, key, value string) {
	tb.Helper()
	commit(tb, e, func(b *storage.Batch) { b.Set([]byte(key), []byte(value)) })
}

// rows reads everything, in both directions, and checks that they agree.
func rows(tb testing.TB, r storage.Reader, lower, upper []byte) []string {
	tb.Helper()
	read := func(c *storage.Cursor, err error) []string {
		if err != nil {
			tb.Fatal(err)
		}
		var out []string
		for c.Next() {
			out = append(out, string(c.Key())+"="+string(c.Value()))
		}
		if err := c.Close(); err != nil {
			tb.Fatal(err)
		}
		return out
	}
	forth, back := read(r.Scan(lower, upper)), read(r.ScanBack(lower, upper))
	slices.Reverse(back)
	if !slices.Equal(forth, back) {
		tb.Fatalf("forward: %q, backward: %q", forth, back)
	}
	return forth
}

func wantRows(tb testing.TB, r storage.Reader, want ...string) {
	tb.Helper()
	if got := rows(tb, r, nil, nil); !slices.Equal(got, want) {
		tb.Errorf("rows %q, want %q", got, want)
	}
}

func TestABatchAppliesWholeAndItsLastWriteWins(t *testing.T) {
	e := open(t, storage.MemFS(), "d")
	defer closeEngine(t, e)
	set(t, e, "gone", "1")
	set(t, e, "range-a", "1")
	set(t, e, "range-b", "1")
	set(t, e, "rangf", "1")
	commit(t, e, func(b *storage.Batch) {
		if !b.Empty() {
			t.Error("a new batch is not empty")
		}
		b.Set([]byte("a"), []byte("1"))
		b.Set([]byte("a"), []byte("2"))
		b.Delete([]byte("gone"))
		b.Delete([]byte("never there"))
		b.DeleteRange([]byte("range-"), []byte("range."))
		b.Set([]byte("range-c"), []byte("3"))
		if b.Empty() {
			t.Error("a written batch is empty")
		}
	})
	wantRows(t, e, "a=2", "range-c=3", "rangf=1")
}

func TestAnEmptyValueIsNotAMissingOne(t *testing.T) {
	e := open(t, storage.MemFS(), "d")
	defer closeEngine(t, e)
	set(t, e, "empty", "")
	if v, ok, err := e.Get([]byte("empty")); err != nil || !ok || v == nil || len(v) != 0 {
		t.Errorf("empty value: %v %v %v", v, ok, err)
	}
	if v, ok, err := e.Get([]byte("missing")); err != nil || ok || v != nil {
		t.Errorf("missing value: %v %v %v", v, ok, err)
	}
}

func TestValuesBelongToTheCaller(t *testing.T) {
	e := open(t, storage.MemFS(), "d")
	defer closeEngine(t, e)
	set(t, e, "k", "value")
	v, _, err := e.Get([]byte("k"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Scan(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Next()
	scanned := c.Value()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	copy(v, "VALUE")
	copy(scanned, "VALUE")
	wantRows(t, e, "k=value")
}

// Values that share memory are equal to those that do not, at each size, and none is overwritten.
func TestSharedValuesAreThoseOfTheRows(t *testing.T) {
	e := open(t, storage.Disk, t.TempDir())
	defer closeEngine(t, e)
	var want [][]byte
	commit(t, e, func(b *storage.Batch) {
		for n := range 250 {
			value := bytes.Repeat([]byte{byte(n)}, n*n/4)
			want = append(want, value)
			b.Set([]byte{byte(n)}, value)
		}
	})
	cursor, err := e.Scan(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for cursor.Next() {
		value := cursor.SharedValue()
		if len(got) > 0 {
			_ = append(got[len(got)-1], "overwritten"...)
		}
		got = append(got, value)
	}
	if err := cursor.Close(); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%v: %d values differ from the %d rows", err, len(got), len(want))
	}
}

func TestACursorKeepsItsBoundsAndSeeks(t *testing.T) {
	e := open(t, storage.MemFS(), "d")
	defer closeEngine(t, e)
	for _, k := range []string{"a", "b", "c", "d", "e"} {
		set(t, e, k, k)
	}
	if got := rows(t, e, []byte("b"), []byte("d")); !slices.Equal(got, []string{"b=b", "c=c"}) {
		t.Errorf("b to d: %q", got)
	}
	forth, err := e.Scan([]byte("a"), []byte("e"))
	if err != nil {
		t.Fatal(err)
	}
	if !forth.Seek([]byte("bb")) || string(forth.Key()) != "c" || !forth.Next() || string(forth.Key()) != "d" || forth.Next() {
		t.Error("seek forward to bb does not go on with c, d")
	}
	if err := forth.Close(); err != nil {
		t.Fatal(err)
	}
	back, err := e.ScanBack([]byte("a"), []byte("e"))
	if err != nil {
		t.Fatal(err)
	}
	if !back.Seek([]byte("c")) || string(back.Key()) != "b" || !back.Next() || string(back.Key()) != "a" || back.Next() {
		t.Error("seek backward to c does not go on with b, a")
	}
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAViewDoesNotSeeWhatComesAfterIt(t *testing.T) {
	e := open(t, storage.MemFS(), "d")
	defer closeEngine(t, e)
	set(t, e, "k", "before")
	v := e.View()
	set(t, e, "k", "after")
	set(t, e, "new", "1")
	wantRows(t, v, "k=before")
	wantRows(t, e, "k=after", "new=1")
	v.Close()
}

func TestACheckpointIsAnEngineOfItsOwn(t *testing.T) {
	for name, fs := range map[string]storage.FS{"memory": storage.MemFS(), "disk": storage.Disk} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			original, copied := fs.PathJoin(dir, "original"), fs.PathJoin(dir, "copy")
			if err := storage.MakeDir(fs, original); err != nil {
				t.Fatal(err)
			}
			e := open(t, fs, original)
			set(t, e, "k", "before")
			if err := e.Checkpoint(copied); err != nil {
				t.Fatal(err)
			}
			set(t, e, "k", "after")
			c := open(t, fs, copied)
			wantRows(t, c, "k=before")
			set(t, c, "k", "elsewhere")
			closeEngine(t, c)
			wantRows(t, e, "k=after")
			closeEngine(t, e)
		})
	}
}

// A disk that fails while a copy is made costs the copy, and not the engine or the process.
func TestACheckpointOnAFailingDiskIsAnError(t *testing.T) {
	var failing atomic.Int64 // the sync of the copy's directory that fails, from 1; 0 for none
	fs := errorfs.Wrap(storage.MemFS(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync && op.Path == "copy" && failing.Add(-1) == 0 {
			return syscall.EIO
		}
		return nil
	}))
	if err := storage.MakeDir(fs, "original"); err != nil {
		t.Fatal(err)
	}
	e := open(t, fs, "original")
	set(t, e, "k", "before")
	failures := 0
	for n := int64(1); ; n++ {
		failing.Store(n)
		err := e.Checkpoint("copy")
		if err == nil {
			break
		}
		if failures++; !errors.Is(err, syscall.EIO) {
			t.Errorf("sync %d: %v", n, err)
		}
		if err := fs.RemoveAll("copy"); err != nil {
			t.Fatal(err)
		}
	}
	if failures < 2 {
		t.Errorf("%d syncs of the directory failed", failures)
	}
	failing.Store(0)
	set(t, e, "k", "after")
	wantRows(t, e, "k=after")
	c := open(t, fs, "copy")
	wantRows(t, c, "k=before")
	closeEngine(t, c)
	closeEngine(t, e)
}

// A batch is 1 to 3 rows and the number of the batch, like the state machine's. After a power
// failure the engine has the rows of the first n batches, for some n not below that of the last
// flush.
func TestAfterACrashTheEngineStandsAtSomeWholeCommit(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			fs := storage.CrashableMemFS()
			if err := storage.MakeDir(fs, "d"); err != nil {
				t.Fatal(err)
			}
			e, err := storage.Open("d", storage.Options{FS: fs, MemTableBytes: 32 << 10, CacheBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			states := [][]string{nil}
			flushed := 0
			n := rng.IntN(200)
			for i := 1; i <= n; i++ {
				commit(t, e, func(b *storage.Batch) {
					b.Set([]byte("number"), fmt.Append(nil, i))
					for range 1 + rng.IntN(3) {
						key := fmt.Append(nil, "row", rng.IntN(20))
						if rng.IntN(4) == 0 {
							b.Delete(key)
						} else {
							b.Set(key, bytes.Repeat(fmt.Append(nil, i, ","), rng.IntN(300)))
						}
					}
				})
				states = append(states, rows(t, e, nil, nil))
				if rng.IntN(40) == 0 {
					if err := e.Flush(); err != nil {
						t.Fatal(err)
					}
					flushed = i
				}
			}
			crashed := fs.Crash(rng, rng.IntN(2)*50)
			closeEngine(t, e)
			if err := storage.MakeDir(crashed, "d"); err != nil {
				t.Fatal(err)
			}
			after := open(t, crashed, "d")
			defer closeEngine(t, after)
			got := rows(t, after, nil, nil)
			if at := slices.IndexFunc(states, func(s []string) bool { return slices.Equal(s, got) }); at < flushed {
				t.Errorf("after the crash the engine stands at commit %d; %d were flushed", at, flushed)
			}
		})
	}
}

func TestADirectoryIsOpenedOnceAtATimeAndTheErrorSaysWhatToDo(t *testing.T) {
	for name, fs := range map[string]storage.FS{"memory": storage.MemFS(), "disk": storage.Disk} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := storage.MakeDir(fs, dir); err != nil {
				t.Fatal(err)
			}
			e := open(t, fs, dir)
			_, err := storage.Open(dir, storage.Options{FS: fs})
			if !errors.Is(err, storage.ErrLocked) || !strings.Contains(err.Error(), "another dormoused is running") {
				t.Errorf("opened twice: %v", err)
			}
			if _, err := storage.Lock(fs, dir); !errors.Is(err, storage.ErrLocked) {
				t.Errorf("locked twice: %v", err)
			}
			closeEngine(t, e)
			closeEngine(t, open(t, fs, dir))
		})
	}
}

func TestAFailedWriteIsToldOnceInTheBackground(t *testing.T) {
	var broken atomic.Bool
	fs := storage.Faulty(storage.MemFS(), func(path string) error {
		if broken.Load() && strings.HasSuffix(path, ".sst") {
			return errors.New("the disk has failed")
		}
		return nil
	})
	told := make(chan error, 100)
	e, err := storage.Open("d", storage.Options{
		FS: fs, Fatal: func(err error) { told <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	set(t, e, "k", "v")
	broken.Store(true)
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		_ = e.Flush() // fails, or succeeds once the disk does; the reported error counts
	}()
	if err := <-told; !strings.Contains(err.Error(), "the disk has failed") {
		t.Errorf("told: %v", err)
	}
	broken.Store(false)
	<-flushed
	closeEngine(t, e)
	if more := len(told); more > 0 {
		t.Errorf("told %d times more", more)
	}
}

func TestADamagedFileIsAnErrorNotAMissingKey(t *testing.T) {
	fs := storage.MemFS()
	e := open(t, fs, "d")
	for i := range 1000 {
		set(t, e, fmt.Sprintf("key%04d", i), strings.Repeat("value", 20))
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	names, err := fs.List("d")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			flip(t, fs, fs.PathJoin("d", name))
		}
	}
	var fatal atomic.Int32
	e, err = storage.Open("d", storage.Options{FS: fs, Fatal: func(error) { fatal.Add(1) }})
	if err != nil {
		return // found at once: this is fine too
	}
	failures := 0
	for i := range 1000 {
		_, ok, err := e.Get(fmt.Appendf(nil, "key%04d", i))
		if err == nil && !ok {
			t.Fatalf("key %d is missing without an error", i)
		}
		if err != nil {
			failures++
		}
	}
	if failures == 0 || fatal.Load() != 1 {
		t.Errorf("%d reads failed, fatal told %d times", failures, fatal.Load())
	}
	c, err := e.Scan(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for c.Next() {
		n++
	}
	if err := c.Close(); err == nil {
		t.Errorf("the scan gave %d rows and no error", n)
	}
	closeEngine(t, e)
}

func flip(t *testing.T, fs storage.FS, path string) {
	t.Helper()
	content, err := storage.ReadFile(fs, path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	content[100] ^= 0x10 // in the first data block
	if err := storage.WriteFile(fs, path, content); err != nil {
		t.Fatal(err)
	}
}

func TestWriteFileSurvivesACrashOldOrNew(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		fs := storage.CrashableMemFS()
		if err := storage.MakeDir(fs, "a/b"); err != nil {
			t.Fatal(err)
		}
		if err := storage.WriteFile(fs, "a/b/f", []byte("old")); err != nil {
			t.Fatal(err)
		}
		if got, err := storage.ReadFile(fs.Crash(rng, 0), "a/b/f", 10); err != nil || string(got) != "old" {
			t.Fatalf("after the first write: %q %v", got, err)
		}
		if err := storage.WriteFile(fs, "a/b/f", []byte("new")); err != nil {
			t.Fatal(err)
		}
		if got, err := storage.ReadFile(fs.Crash(rng, 50), "a/b/f", 10); err != nil || string(got) != "new" {
			t.Fatalf("after the second write: %q %v", got, err)
		}
	}
}

func BenchmarkCommit256Of1KiB(b *testing.B) {
	dir := b.TempDir()
	e, err := storage.Open(dir, storage.Options{})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 1024)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range value {
		value[i] = byte('a' + rng.IntN(20))
	}
	b.SetBytes(256 * 1024)
	b.ReportAllocs()
	for b.Loop() {
		batch := e.NewBatch()
		for range 256 {
			batch.Set(fmt.Appendf(nil, "scope\x00key-%08d", rng.IntN(1_000_000)), value)
		}
		if err := e.Commit(batch); err != nil {
			b.Fatal(err)
		}
		batch.Close()
	}
	b.StopTimer()
	closeEngine(b, e)
}

func BenchmarkGet(b *testing.B) {
	e, err := storage.Open(b.TempDir(), storage.Options{})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 1024)
	for i := range 1000 {
		batch := e.NewBatch()
		for j := range 100 {
			batch.Set(fmt.Appendf(nil, "scope\x00key-%08d", i*100+j), value)
		}
		if err := e.Commit(batch); err != nil {
			b.Fatal(err)
		}
		batch.Close()
	}
	if err := e.Flush(); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := e.Get(fmt.Appendf(nil, "scope\x00key-%08d", rng.IntN(100_000))); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.StopTimer()
	closeEngine(b, e)
}

// A file above the limit is refused, and not cut.
func TestAFileIsReadWholeOrNotAtAll(t *testing.T) {
	fs := storage.MemFS()
	if err := storage.WriteFile(fs, "f", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	if got, err := storage.ReadFile(fs, "f", 10); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := storage.ReadFile(fs, "f", 9); err == nil {
		t.Errorf("%q, and no error", got)
	}
}
