//go:build linux && cgo

package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dormouse/storage"
)

// Each arena of glibc except the first is a mapping that begins at a multiple of 64 MiB and is
// writable only at its beginning.
func TestMemoryOfTheEngineIsOfOneArena(t *testing.T) {
	for _, name := range []string{"MALLOC_ARENA_MAX", "GLIBC_TUNABLES"} {
		if os.Getenv(name) != "" {
			t.Skipf("%s says how many arenas there are", name)
		}
	}
	e, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	const rows = 4000
	for i := range rows {
		b.Set(fmt.Appendf(nil, "%06d", i), make([]byte, 1<<10))
	}
	if err := e.Commit(b); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	var threads sync.WaitGroup
	const count = 8
	for n := range count {
		threads.Add(1)
		go func() {
			defer threads.Done()
			runtime.LockOSThread() // each allocates blocks for the cache on its own thread
			defer runtime.UnlockOSThread()
			for i := n; i < rows; i += count {
				if _, ok, err := e.Get(fmt.Appendf(nil, "%06d", i)); err != nil || !ok {
					t.Errorf("row %d: there %t: %v", i, ok, err)
				}
			}
		}()
	}
	threads.Wait()
	if n := arenas(t); n > 0 {
		t.Errorf("there are %d arenas beside the first", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// mapping is a line of /proc/self/maps.
var mapping = regexp.MustCompile(`^([0-9a-f]+)-([0-9a-f]+) (\S+) 0+ 00:00 0\s*$`)

func arenas(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	goHeap := uint64(uintptr(unsafe.Pointer(new([size / 64]byte)))) >> 32 // the Go heap looks similar
	count, writableTo := 0, uint64(0)
	for line := range strings.Lines(string(raw)) {
		m := mapping.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		from, errFrom := strconv.ParseUint(m[1], 16, 64)
		to, errTo := strconv.ParseUint(m[2], 16, 64)
		if errFrom != nil || errTo != nil {
			t.Fatalf("%q", line)
		}
		switch {
		case from>>32 == goHeap:
		case m[3] == "rw-p" && from%size == 0 && to-from < size:
			writableTo = to
		case m[3] == "---p" && from == writableTo && to%size == 0:
			count++
		}
	}
	return count
}
