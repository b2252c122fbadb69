package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// entryTime is the time of all files in an archive.
var entryTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// archive packs a directory into a .tar.gz beside it, and removes the directory.
func archive(dir string) (string, error) {
	path := dir + ".tar.gz"
	file, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("create an archive: %w", err)
	}
	zipped := gzip.NewWriter(file)
	packed := tar.NewWriter(zipped)
	err = pack(packed, dir)
	if err := errors.Join(err, packed.Close(), zipped.Close(), file.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, os.RemoveAll(dir)
}

// pack adds the files of a directory in the order of their names.
func pack(to *tar.Writer, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if programs[e.Name()].pkg != "" {
			mode = 0o755
		}
		if err := to.WriteHeader(&tar.Header{Name: filepath.Base(dir) + "/" + e.Name(), Mode: mode, Size: int64(len(raw)), ModTime: entryTime}); err != nil {
			return err
		}
		if _, err := to.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// writeSums writes the SHA-256 of files as sha256sum does. It names them relative to its
// own directory.
func writeSums(path string, files []string) error {
	var b bytes.Buffer
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read an archive: %w", err)
		}
		name, err := filepath.Rel(filepath.Dir(path), file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(raw), filepath.ToSlash(name))
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
