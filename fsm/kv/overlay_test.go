package kv_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// TestOverlayAgainstAModel writes random entries with one overlay. Each of its reads, and the
// engine after each entry, must equal a map's.
func TestOverlayAgainstAModel(t *testing.T) {
	engine, err := storage.Open(t.TempDir(), storage.Options{FS: storage.Disk, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	random := rand.New(rand.NewPCG(1, 2))
	cache := kv.NewApplyCache(2 << 10) // too small for all rows
	overlay := kv.NewOverlay(cache)
	model := map[string]string{}
	for entry := range 300 {
		overlay.Open(engine)
		commits := 1 + random.IntN(20)
		if entry == 150 {
			commits = 4000 // more rows than an overlay keeps memory for
		}
		for range commits {
			before := maps.Clone(model)
			mark := overlay.Begin()
			for range random.IntN(5) {
				randomRow(t, random, overlay, model)
			}
			if random.IntN(4) == 0 {
				overlay.Rollback(mark)
				model = before
			}
		}
		batch := engine.NewBatch()
		overlay.WriteTo(batch)
		if err := engine.Commit(batch); err != nil {
			t.Fatal(err)
		}
		batch.Close()
		overlay.Settle()
		if size := cache.Bytes(); size < 0 || size > 2<<10 {
			t.Fatalf("the cache has %d bytes", size)
		}
		if got := rowsOf(t, engine); !maps.Equal(got, model) {
			t.Fatalf("entry %d: the engine has %d rows, the model %d", entry, len(got), len(model))
		}
	}
}

// A range deleted after an entry has written its rows takes them out of the cache too.
func TestRowsOfARangeThatTheirEntryDeletesAreNotCached(t *testing.T) {
	engine, err := storage.Open("engine", storage.Options{FS: storage.MemFS(), Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	overlay := kv.NewOverlay(kv.NewApplyCache(1 << 20))
	overlay.Open(engine)
	const key = kv.KindCheckpoint + "000"
	for i := range kv.PointDeletesMax + 1 { // enough for a range delete
		overlay.Set(fmt.Sprintf("%s%03d", kv.KindCheckpoint, i), []byte("x"))
	}
	if err := overlay.RemoveRange(kv.KindCheckpoint, kv.After(kv.KindCheckpoint)); err != nil {
		t.Fatal(err)
	}
	batch := engine.NewBatch()
	overlay.WriteTo(batch)
	if err := engine.Commit(batch); err != nil {
		t.Fatal(err)
	}
	batch.Close()
	overlay.Settle()
	overlay.Open(engine)
	if got, err := overlay.Get(key); got != nil || err != nil {
		t.Errorf("the next entry reads %q, %v", got, err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

// randomRow makes one change or read in both.
func randomRow(t *testing.T, random *rand.Rand, overlay *kv.Overlay, model map[string]string) {
	t.Helper()
	kind := []string{kv.KindCheckpoint, kv.KindCheckpointBody}[random.IntN(2)] // the first is in the apply cache
	key := fmt.Sprintf("%s%03d", kind, random.IntN(300))
	value := fmt.Sprint("value ", random.Uint64())
	switch random.IntN(20) {
	case 0, 1, 2, 3:
		overlay.Set(key, []byte(value))
		model[key] = value
	case 4, 5, 6, 7, 8, 9:
		m := &logpb.CheckpointBody{State: []byte(value)}
		overlay.SetMessage(key, m)
		model[key] = string(m.Encode())
	case 10, 11:
		overlay.Remove(key)
		delete(model, key)
	case 12:
		upper := kv.After(key[:len(key)-random.IntN(4)])
		if err := overlay.RemoveRange(key, upper); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(model, func(k, _ string) bool { return key <= k && k < upper })
	case 13:
		checkKeys(t, overlay, model, kind, kv.After(kind), 1000)
		checkKeys(t, overlay, model, key, kv.After(key[:len(key)-random.IntN(4)]), random.IntN(10))
	default:
		got, err := overlay.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := model[key]; ok != (got != nil) || string(got) != want {
			t.Fatalf("row %q is %q, want %q", key, got, want)
		}
	}
}

// checkKeys compares the first keys of a range.
func checkKeys(t *testing.T, overlay *kv.Overlay, model map[string]string, lower, upper string, limit int) {
	t.Helper()
	got, more, err := overlay.Keys(lower, upper, limit)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(model)), func(k string) bool { return k < lower || upper <= k })
	if all := len(want); more != (all > limit) || !slices.Equal(got, want[:min(limit, all)]) {
		t.Fatalf("from %q to %q the overlay has the keys %q, more: %t, the model %q", lower, upper, got, more, want)
	}
}

func rowsOf(t *testing.T, engine *storage.Engine) map[string]string {
	t.Helper()
	rows := map[string]string{}
	cursor, err := engine.Scan([]byte{0}, []byte{0xff})
	if err != nil {
		t.Fatal(err)
	}
	for cursor.Next() {
		rows[string(cursor.Key())] = string(cursor.Value())
	}
	if err := cursor.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}
