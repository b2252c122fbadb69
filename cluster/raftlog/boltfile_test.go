package raftlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"go.etcd.io/bbolt"
)

// boltImage is a bbolt file with branches, large values, inline buckets and,
// where synced, a list of free pages.
func boltImage(t *testing.T, synced bool) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bolt.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: !synced, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			small, err := tx.CreateBucketIfNotExists([]byte("inline"))
			if err != nil {
				return err
			}
			if err := small.Put([]byte("k"), []byte{byte(round)}); err != nil {
				return err
			}
			large, err := tx.CreateBucketIfNotExists([]byte("tree"))
			for i := 0; err == nil && i < 120; i++ {
				err = large.Put(fmt.Appendf(nil, "key %04d", i), bytes.Repeat([]byte{byte(i)}, 20+i%50))
			}
			if err == nil {
				err = large.Put([]byte("large"), bytes.Repeat([]byte("v"), 10000))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// check is checkBolt on a file that holds raw.
func check(t *testing.T, path string, raw []byte) (values int, err error) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	err = checkBolt(path, func(_, _, _ []byte) error { values++; return nil })
	return values, err
}

// open lets bbolt open the file, as it is when it begins to write, and read
// everything. A panic here is one; in a goroutine of bbolt's it ends the test.
func open(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, NoSync: true})
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what counts is that it can be read
	return db.Update(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		})
	})
}

func TestWhatTheCheckLetsPassBoltCanOpen(t *testing.T) {
	const values = 122
	for _, synced := range []bool{true, false} {
		whole := boltImage(t, synced)
		path := filepath.Join(t.TempDir(), "bolt.db")
		if n, err := check(t, path, whole); err != nil || n != values {
			t.Fatalf("a whole file: %d values, %v; want %d", n, err, values)
		}
		passed, refused := 0, 0
		try := func(what string, raw []byte) {
			t.Helper()
			if _, err := check(t, path, raw); err != nil {
				refused++
				return
			}
			passed++
			if err := open(path); err != nil {
				t.Errorf("%s: it passed, and bbolt says: %v", what, err)
			}
		}
		for at := 0; at < len(whole); at += 97 {
			raw := bytes.Clone(whole)
			raw[at] ^= 1 << (at % 8)
			try(fmt.Sprintf("bit flipped in byte %d", at), raw)
		}
		page := os.Getpagesize()
		for at := 0; at < len(whole); at += page {
			raw := bytes.Clone(whole)
			clear(raw[at : at+page])
			try(fmt.Sprintf("page at %d zeroed", at), raw)
			for head := at; head < at+32; head += 5 { // ids, kinds, counts, first element
				raw := bytes.Clone(whole)
				raw[head] ^= 0x55
				try(fmt.Sprintf("byte %d of a head changed", head), raw)
			}
			try(fmt.Sprintf("cut at %d", at+page/2), whole[:at+page/2])
		}
		if passed == 0 || refused == 0 {
			t.Errorf("%d passed, %d refused: nothing was tried", passed, refused)
		}
	}
}

// A crash in the middle of a commit tears one of the first two pages, and the
// file is as it was before.
func TestATornFirstPageIsNoDamage(t *testing.T) {
	page := os.Getpagesize()
	for at := range 2 {
		raw := boltImage(t, true)
		clear(raw[at*page+20 : at*page+60])
		path := filepath.Join(t.TempDir(), "bolt.db")
		if n, err := check(t, path, raw); err != nil || n == 0 {
			t.Errorf("page %d: %d values, %v", at, n, err)
		}
		if err := open(path); err != nil {
			t.Errorf("page %d: bbolt says: %v", at, err)
		}
	}
}

func TestANewFileIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bolt.db")
	if err := checkBolt(path, nil); err != nil {
		t.Error(err)
	}
	if _, err := check(t, path, nil); err != nil {
		t.Error(err)
	}
}
