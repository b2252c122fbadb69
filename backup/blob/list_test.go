package blob_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dormouse/backup/blob"
)

// A list that is too long has its beginning, and says so, also through dormblob.
func TestALongListHasItsBeginning(t *testing.T) {
	t.Setenv("BLOB_TEST_MOST", "3")
	all := stores(t)
	all["dir"] = blob.Limit(all["dir"], 3)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			for _, object := range []string{"a/1", "a/2", "a/3", "b/1"} {
				put(t, s, object, []byte("x"))
			}
			if got, err := s.List(t.Context(), "a/"); err != nil || len(got) != 3 {
				t.Errorf("three objects: %v, %v", got, err)
			}
			if got, err := s.List(t.Context(), ""); !errors.Is(err, blob.ErrTooMany) || fmt.Sprint(got) != "[{a/1 1} {a/2 1} {a/3 1}]" {
				t.Errorf("four objects: %v, %v", got, err)
			}
		})
	}
}

// The first parts of names are listed without the names. A dormblob of an earlier version lists the names.
func TestTheFirstPartsOfNamesAreListed(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for _, object := range []string{"b/log/1", "b/log/2", "a/backups/1/state", "top"} {
				put(t, s, object, []byte("x"))
			}
			if got, err := s.Dirs(t.Context()); err != nil || !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "dormblob")
	earlier := "#!/bin/sh\necho '{\"protocol\":1}'\nwhile read -r line; do case $line in *list*) echo '{\"objects\":[{\"name\":\"a/1\"},{\"name\":\"a/2\"},{\"name\":\"b\"}]}';; *) echo '{\"error\":\"there is no op\"}';; esac; done\n"
	if err := os.WriteFile(script, []byte(earlier), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	s, err := blob.Open(t.Context(), "s3://bucket", script)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it is ended
	if got, err := s.Dirs(t.Context()); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("of an earlier version: %v, %v", got, err)
	}
}
