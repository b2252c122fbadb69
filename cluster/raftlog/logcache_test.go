package raftlog

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

// counted counts the reads that reach the disk.
type counted struct {
	raft.LogStore
	reads int
}

func (s *counted) GetLog(index uint64, log *raft.Log) error {
	s.reads++
	return s.LogStore.GetLog(index, log)
}

func TestTheNewestEntriesAreReadFromMemoryWithinTheBytes(t *testing.T) {
	const each = 1000
	disk := &counted{LogStore: raft.NewInmemStore()}
	cache := newCachedLogs(disk, 10*(each+entryOverhead))
	for index := uint64(1); index <= 100; index++ {
		if err := cache.StoreLog(&raft.Log{Index: index, Term: 1, Data: make([]byte, each)}); err != nil {
			t.Fatal(err)
		}
		if cache.bytes > cache.bytesMax {
			t.Fatalf("it holds %d bytes, more than %d", cache.bytes, cache.bytesMax)
		}
	}
	for index, reads := uint64(1), 0; index <= 100; index++ {
		if err := cache.GetLog(index, new(raft.Log)); err != nil {
			t.Fatal(err)
		}
		if index <= 90 {
			reads++
		}
		if disk.reads != reads {
			t.Fatalf("after reading entry %d the disk was read %d times, want %d", index, disk.reads, reads)
		}
	}
}

func TestAnEntryOverTheBoundIsNotKept(t *testing.T) {
	cache := newCachedLogs(raft.NewInmemStore(), 1000)
	if err := cache.StoreLog(&raft.Log{Index: 1, Data: make([]byte, 2000)}); err != nil {
		t.Fatal(err)
	}
	if cache.bytes != 0 || len(cache.entries) != 0 {
		t.Errorf("it holds %d bytes in %d entries", cache.bytes, len(cache.entries))
	}
}

func TestWhatCouldNotBeStoredIsNotCached(t *testing.T) {
	disk := &ailing{InmemStore: raft.NewInmemStore(), fail: errors.New("no")}
	cache := newCachedLogs(disk, 1<<20)
	if err := cache.StoreLog(&raft.Log{Index: 1}); err == nil {
		t.Fatal("stored")
	}
	if err := cache.GetLog(1, new(raft.Log)); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("got %v", err)
	}
}

// The cache, and the meter's figures, against what the log really holds, under
// any order of appends and of deletes of a prefix or a suffix.
func TestCacheAndMeterAgreeWithTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		disk := raft.NewInmemStore()
		meter := &meteredLogs{LogStore: disk}
		cache := newCachedLogs(meter, 200_000)
		term := uint64(1)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			first, _ := disk.FirstIndex()
			last, _ := disk.LastIndex()
			term++
			switch step := rapid.SampledFrom([]string{"append", "append", "append", "prefix", "suffix", "all"}).Draw(t, "step"); {
			case step == "append":
				next := last + 1
				if last == 0 {
					next = rapid.Uint64Range(1, 1000).Draw(t, "start")
				}
				var logs []*raft.Log
				for i := range rapid.Uint64Range(1, 20).Draw(t, "count") {
					logs = append(logs, &raft.Log{Index: next + i, Term: term, Data: make([]byte, rapid.IntRange(0, 30_000).Draw(t, "size"))})
				}
				if err := cache.StoreLogs(logs); err != nil {
					t.Fatal(err)
				}
			case last == 0:
			case step == "prefix":
				_ = cache.DeleteRange(first, rapid.Uint64Range(first, last).Draw(t, "to")) // in memory
			case step == "suffix":
				_ = cache.DeleteRange(rapid.Uint64Range(first, last).Draw(t, "from"), last) // in memory
			default:
				_ = cache.DeleteRange(first, last) // in memory
			}
			agree(t, disk, meter, cache)
		}
	})
}

func agree(t *rapid.T, disk *raft.InmemStore, meter *meteredLogs, cache *cachedLogs) {
	first, _ := disk.FirstIndex()
	last, _ := disk.LastIndex()
	var total, held int64
	for index := uint64(1); index <= last+2; index++ {
		var want, got raft.Log
		errWant, errGot := disk.GetLog(index, &want), cache.GetLog(index, &got)
		if fmt.Sprint(errWant) != fmt.Sprint(errGot) || got.Term != want.Term || len(got.Data) != len(want.Data) {
			t.Fatalf("entry %d: the cache has %+v, %v; the log %+v, %v", index, got, errGot, want, errWant)
		}
		if errWant == nil {
			total += entryBytes(&want)
		}
	}
	for _, log := range cache.entries {
		held += entryBytes(log)
	}
	if held != cache.bytes || held > cache.bytesMax {
		t.Fatalf("the cache says %d bytes and holds %d of at most %d", cache.bytes, held, cache.bytesMax)
	}
	const slack = 2*meterGrain + 2*(30_000+entryOverhead)
	if got := meter.after(0); got < total-slack || got > total+slack {
		t.Fatalf("the meter says %d bytes for %d to %d, which have %d", got, first, last, total)
	}
	if last > 0 {
		if n := meter.newest(total + slack); n > last-first+1 {
			t.Fatalf("the newest %d entries of %d to %d", n, first, last)
		}
	}
}
