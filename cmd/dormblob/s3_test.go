package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"dormouse/backup/blob"
)

// TestMain makes the test a dormblob if it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("DORMBLOB_TEST") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fakeS3 starts an S3 server in memory with a bucket, and returns the URL of the bucket.
func fakeS3(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("backups"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	return "s3://backups?use_path_style=true&prefix=dormouse/"
}

func program(t *testing.T, url string) (blob.Store, error) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DORMBLOB_TEST", "1")
	return blob.Open(t.Context(), url, path)
}

// The program keeps objects in S3, through the driver of the provider's own library.
func TestTheProgramKeepsObjectsInS3(t *testing.T) {
	s, err := program(t, fakeS3(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()                                        //nolint:errcheck // it ends the process
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // larger than a part of an upload
	for name, content := range map[string][]byte{"c-1/backups/b/state": big, "c-1/head.json": []byte("{}")} {
		if err := s.Put(t.Context(), name, bytes.NewReader(content), 0); err != nil {
			t.Fatalf("put %s: %v", name, err)
		}
		r, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatalf("get %s: %v", name, err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	broken := errors.New("the node has stopped")
	half := io.MultiReader(bytes.NewReader(big), iotest.ErrReader(broken))
	if err := s.Put(t.Context(), "c-1/backups/h/state", half, 0); !errors.Is(err, broken) {
		t.Errorf("half of an object: %v", err)
	}
	if all, err := s.List(t.Context(), "c-1/"); err != nil || fmt.Sprint(all) != "[{c-1/backups/b/state 16777216} {c-1/head.json 2}]" {
		t.Errorf("there are %v, %v", all, err)
	}
	if dirs, err := s.Dirs(t.Context()); err != nil || fmt.Sprint(dirs) != "[c-1]" {
		t.Errorf("the first parts of the names are %v, %v", dirs, err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "c-1/head.json"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := s.Get(t.Context(), "c-1/head.json"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a deleted object: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "a", strings.NewReader("a"), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is over: %v", err)
	}
}

func TestABucketThatDoesNotExistIsAnError(t *testing.T) {
	url := strings.Replace(fakeS3(t), "backups", "other", 1)
	if s, err := program(t, url); err == nil || !strings.Contains(err.Error(), "open s3://other") {
		t.Errorf("%v, %v", s, err)
	}
}

// A list that is too long has its beginning.
func TestAListThatIsTooLongHasItsBeginning(t *testing.T) {
	s, err := open(t.Context(), fakeS3(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the server ends
	b, _ := s.(bucket)
	b.most = 2
	for _, name := range []string{"a/1", "a/2", "a/3"} {
		if err := b.Put(t.Context(), name, strings.NewReader("x"), 1); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := b.List(t.Context(), "a/"); !errors.Is(err, blob.ErrTooMany) || fmt.Sprint(all) != "[{a/1 1} {a/2 1}]" {
		t.Errorf("%v, %v", all, err)
	}
}
