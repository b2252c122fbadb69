package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"dormouse/backup/blob"
)

// TestMain makes the test a dormblob over a directory if it is started as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BLOB_TEST_DIR"); dir != "" {
		os.Exit(serve(dir))
	}
	goleak.VerifyTestMain(m)
}

func serve(dir string) int {
	if os.Getenv("BLOB_TEST_CRASH") != "" {
		fmt.Fprintln(os.Stderr, "out of memory")
		return 3
	}
	if os.Getenv("BLOB_TEST_HANG") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // as while a bucket does not answer
		return 4
	}
	store, err := blob.OpenDir(dir)
	if most, err := strconv.Atoi(os.Getenv("BLOB_TEST_MOST")); err == nil {
		store = blob.Limit(store, most)
	}
	if os.Getenv("BLOB_TEST_CUT") != "" {
		store = cutStore{store}
	}
	if err := blob.Serve(context.Background(), store, err, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// stores opens a directory, and a directory behind a process.
func stores(t *testing.T) map[string]blob.Store {
	t.Helper()
	dir, err := blob.Open(t.Context(), (&url.URL{Scheme: "file", Path: filepath.Join(t.TempDir(), "backups")}).String(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BLOB_TEST_DIR", filepath.Join(t.TempDir(), "bucket"))
	program, err := blob.Open(t.Context(), "s3://bucket", self(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(dir.Close(), program.Close()); err != nil {
			t.Error(err)
		}
	})
	return map[string]blob.Store{"dir": dir, "program": program}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAStoreHoldsObjects(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) { holdsObjects(t, s) })
	}
}

func holdsObjects(t *testing.T, s blob.Store) {
	t.Helper()
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // four chunks
	for name, content := range map[string][]byte{"a/b/big": big, "a/empty": {}, "a/c": []byte("old"), "z": []byte("z")} {
		put(t, s, name, content)
	}
	put(t, s, "a/c", []byte("new"))
	for name, want := range map[string][]byte{"a/b/big": big, "a/empty": {}, "a/c": []byte("new")} {
		if got := get(t, s, name); !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(want))
		}
	}
	for prefix, want := range map[string]string{"": "[{a/b/big 1048576} {a/c 3} {a/empty 0} {z 1}]", "a/b/": "[{a/b/big 1048576}]", "a/e": "[{a/empty 0}]", "none/": "[]"} {
		if got, err := s.List(t.Context(), prefix); err != nil || fmt.Sprint(got) != want {
			t.Errorf("list %q: %v, %v, want %s", prefix, got, err, want)
		}
	}
	for _, name := range []string{"a/b/big", "a/b/big", "never"} {
		if err := s.Delete(t.Context(), name); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
	if _, err := s.Get(t.Context(), "a/b/big"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a deleted object: %v", err)
	}
	for _, name := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".a", "a b", "a\n", strings.Repeat("a", blob.NameBytesMax+1)} {
		if err := s.Put(t.Context(), name, strings.NewReader(""), 0); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
}

// A reader that fails leaves the object as it was, and the store goes on.
func TestAnObjectAppearsWholeOrNotAtAll(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			put(t, s, "kept", []byte("old"))
			for _, object := range []string{"kept", "fresh"} {
				for _, broken := range []error{errors.New("the node has stopped"), io.ErrUnexpectedEOF} {
					half := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), iotest.ErrReader(broken))
					if err := s.Put(t.Context(), object, half, 0); !errors.Is(err, broken) {
						t.Errorf("put half of %s, then %v: %v", object, broken, err)
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				endless := readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
				if err := s.Put(ctx, object, endless, 0); !errors.Is(err, context.Canceled) {
					t.Errorf("put an endless %s: %v", object, err)
				}
			}
			if got := get(t, s, "kept"); string(got) != "old" {
				t.Errorf("the object has %q", got)
			}
			if all, err := s.List(t.Context(), ""); err != nil || len(all) != 1 {
				t.Errorf("there are %v, %v", all, err)
			}
		})
	}
}

// A download that ends early, as that of a connection that breaks, is an error, and the store goes on.
func TestHalfOfAnObjectIsNotRead(t *testing.T) {
	t.Setenv("BLOB_TEST_DIR", filepath.Join(t.TempDir(), "bucket"))
	t.Setenv("BLOB_TEST_CUT", "1")
	s, err := blob.Open(t.Context(), "s3://bucket", self(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it is only read
	for range 2 {
		put(t, s, "object", []byte("the whole text"))
		content, err := s.Get(t.Context(), "object")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(content); err == nil || !strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
			t.Errorf("read %q: %v", got, err)
		}
		if err := content.Close(); err != nil {
			t.Error(err)
		}
	}
}

// cutStore is a store of which half of each object is read.
type cutStore struct{ blob.Store }

func (s cutStore) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	content, err := s.Store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(content)
	half := io.MultiReader(bytes.NewReader(raw[:len(raw)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
	return io.NopCloser(half), errors.Join(err, content.Close())
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCallsRunAtOnce(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			var calls sync.WaitGroup
			for i := range 20 {
				calls.Go(func() {
					object, content := fmt.Sprintf("o/%d", i), bytes.Repeat([]byte{byte(i)}, 100_000*(i%3))
					if err := s.Put(t.Context(), object, bytes.NewReader(content), 0); err != nil {
						t.Error(err)
						return
					}
					r, err := s.Get(t.Context(), object)
					if err != nil {
						t.Error(err)
						return
					}
					if i%4 == 0 { // a reader that is closed early costs no other call anything
						_ = r.Close()
						return
					}
					got, err := io.ReadAll(r)
					if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s has %d bytes, %v", object, len(got), err)
					}
				})
			}
			calls.Wait()
			if all, err := s.List(t.Context(), "o/"); err != nil || len(all) != 20 {
				t.Errorf("%d objects, %v", len(all), err)
			}
		})
	}
}

func TestAStoreThatCannotBeOpenedSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for location, says := range map[string]string{
		"/var/backups": "write file:///DIRECTORY", "http://host/": "write file:///DIRECTORY", "file://relative/path": "an absolute path", "file:///": "names no directory", "file:///./": "names no directory",
		"s3://": "names no bucket", "s3://key:secret@bucket": "in its environment", "file://" + file: "is no directory", "file:///none/of/these": "no such file",
	} {
		if _, err := blob.Open(t.Context(), location, "/none/dormblob"); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", location, err, says)
		}
	}
	if _, err := blob.Open(t.Context(), "s3://bucket", "/none/dormblob"); err == nil || !strings.Contains(err.Error(), "install it beside") {
		t.Errorf("without dormblob: %v", err)
	}
	t.Setenv("BLOB_TEST_DIR", file)
	if _, err := blob.Open(t.Context(), "gs://bucket", self(t)); err == nil || !strings.Contains(err.Error(), "is no directory") {
		t.Errorf("without a bucket: %v", err)
	}
	t.Setenv("BLOB_TEST_CRASH", "1")
	if _, err := blob.Open(t.Context(), "gs://bucket", self(t)); err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("a crash: %v", err)
	}
}

// The path of a URL need not be the shortest one: an end in a slash hung each Put, which went up from the
// object to the root of the file system and stayed there, and let Delete remove what is above the store.
func TestADirectoryMayHaveALongPath(t *testing.T) {
	for _, end := range []string{"/", "//store", "/./store", "/other/../store"} {
		t.Run(end, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "parent")
			if err := os.Mkdir(parent, 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := blob.Open(t.Context(), "file://"+parent+end, "")
			if err != nil {
				t.Fatal(err)
			}
			put(t, s, "c/a", []byte("a"))
			if all, err := s.List(t.Context(), "c/"); err != nil || len(all) != 1 {
				t.Errorf("there are %v, %v", all, err)
			}
			if err := s.Delete(t.Context(), "c/a"); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(parent + strings.TrimPrefix(end, "/other/..")); err != nil {
				t.Errorf("Delete has removed the store: %v", err)
			}
		})
	}
}

// A restore and a verification change nothing at the destination that they name, also if the name is wrong.
func TestAReaderMakesNoDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "backup")
	if _, err := blob.OpenToRead(t.Context(), "file://"+missing, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reader has made %s: %v", missing, err)
	}
	s, err := blob.Open(t.Context(), "file://"+missing, "")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", []byte("a"))
	if s, err = blob.OpenToRead(t.Context(), "file://"+missing, ""); err != nil {
		t.Fatal(err)
	}
	if got := string(get(t, s, "a")); got != "a" {
		t.Errorf("it reads %q", got)
	}
}

// A process that ends while it writes an object leaves a temporary file, as large as the object may be, which no
// list shows. A later Put removes it.
func TestWhatACrashHasLeftIsRemoved(t *testing.T) {
	root := t.TempDir()
	write := func(name string, age time.Duration) string {
		path := filepath.Join(root, filepath.FromSlash(name))
		at := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	gone := []string{write("c/backups/old/.state42", 2*day), write("c/log/.00000000000000000001-n142", 2*day), filepath.Join(root, "c", "backups", "old")}
	kept := []string{write("c/backups/new/.state43", time.Hour), write("c/backups/kept/state", 9*day), write("c/.nfs0042", 9*day), write(".hidden", 9*day)}
	s, err := blob.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "c/head.json", []byte("{}"))
	for _, path := range gone {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A call that needs another process ends with its context, also while that process still opens the bucket.
func TestACallEndsWhileItsProcessStarts(t *testing.T) {
	t.Setenv("BLOB_TEST_DIR", filepath.Join(t.TempDir(), "bucket"))
	s, err := blob.Open(t.Context(), "s3://bucket", self(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it ends the process
	put(t, s, "a", []byte("a"))
	first, err := s.Get(t.Context(), "a") // takes the process that Open has started
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close() //nolint:errcheck // it was only read
	t.Setenv("BLOB_TEST_HANG", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	failed := make(chan error, 1)
	go func() { _, err := s.List(ctx, ""); failed <- err }()
	select {
	case err := <-failed:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a list whose process does not start: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a list waits for its process although its context has ended")
	}
}

// FuzzServe sends a program what no caller sends: it answers or ends, and does not hang.
func FuzzServe(f *testing.F) {
	f.Add([]byte("{\"op\":\"put\",\"name\":\"a\"}\n\x00\x00\x00\x01x\x00\x00\x00\x00{\"op\":\"get\",\"name\":\"a\"}\n{\"op\":\"list\",\"name\":\"\"}\n{\"op\":\"delete\",\"name\":\"a\"}\n"))
	f.Add([]byte("{\"op\":\"put\",\"name\":\"a\"}\n\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		store, err := blob.OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_ = blob.Serve(t.Context(), store, nil, bytes.NewReader(raw), &out) // the error says what is malformed
		if !slices.Equal(out.Bytes()[:15], []byte("{\"protocol\":1}\n")) {
			t.Errorf("it says %q", out.Bytes())
		}
	})
}

func put(t *testing.T, s blob.Store, name string, content []byte) {
	t.Helper()
	if err := s.Put(t.Context(), name, bytes.NewReader(content), 0); err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
}

func get(t *testing.T, s blob.Store, name string) []byte {
	t.Helper()
	r, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("get %s: %v", name, err)
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("get %s: %v", name, err)
	}
	return content
}
