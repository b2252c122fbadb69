package storage_test

import (
	"bytes"
	"fmt"
	"testing"

	"dormouse/storage"
)

// The encoding of a batch writes what the batch would. A damaged one is refused.
func TestAnEncodingOutlivesItsBatch(t *testing.T) {
	engine, err := storage.Open(t.TempDir(), storage.Options{FS: storage.Disk, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	batch := engine.NewBatch()
	batch.DeleteRange([]byte("b"), []byte("d"))
	batch.Set([]byte("a"), []byte("1"))
	batch.Delete([]byte("e"))
	encoding := bytes.Clone(batch.Encoding())
	batch.Close()

	again, err := engine.DecodeBatch(encoding)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	var visited string
	visit := func(w storage.Write) { visited += fmt.Sprintf("%s-%s %v, ", w.Key, w.Upper, w.Deleted) }
	if err := again.Each(visit); err != nil || visited != "b-d true, a- false, e- true, " {
		t.Errorf("the batch has %q: %v", visited, err)
	}
	if err := engine.Commit(again); err != nil {
		t.Fatal(err)
	}
	if value, ok, err := engine.Get([]byte("a")); err != nil || !ok || string(value) != "1" {
		t.Errorf("the row is %q, %v: %v", value, ok, err)
	}
	for _, damaged := range [][]byte{nil, encoding[:5], encoding[:len(encoding)-1]} {
		if b, err := engine.DecodeBatch(damaged); err == nil {
			b.Close()
			t.Errorf("%d of %d bytes were decoded", len(damaged), len(encoding))
		}
	}
}
