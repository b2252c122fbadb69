// Command bundler builds the console into ui/dist, and checks that what is there is current.
//
//	go -C ui/bundler run .         # builds
//	go -C ui/bundler run . -check  # compares, and fails if ui/dist is stale
//
// It needs the packages of ui/package.json, which npm ci installs.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bytesMax bounds all files of the console together, compressed.
const bytesMax = 150_000

func main() {
	check := flag.Bool("check", false, "compare with ui/dist, and write nothing")
	flag.Parse()
	if err := run("..", *check); err != nil {
		fmt.Fprintln(os.Stderr, "bundler:", err)
		os.Exit(1)
	}
}

// run builds the console whose sources are in dir.
func run(dir string, check bool) error {
	files, err := bundle(dir)
	if err != nil {
		return err
	}
	packed, total := map[string][]byte{}, 0
	for name, content := range files {
		z, err := pack(content)
		if err != nil {
			return err
		}
		packed[name+".gz"] = z
		total += len(z)
	}
	fmt.Printf("the console has %d files of %d bytes, compressed (at most %d)\n", len(files), total, bytesMax)
	if total > bytesMax {
		return fmt.Errorf("the console has %d bytes, %d too many: %s", total, total-bytesMax, sizes(packed))
	}
	dist := filepath.Join(dir, "dist")
	if check {
		return compare(dist, files)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	for name, content := range packed {
		at := filepath.Join(dist, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// compare returns an error unless dist holds the files. It compares what they unpack to: the bytes of
// the compressed form depend on the version of Go.
func compare(dist string, files map[string][]byte) error {
	seen := 0
	err := filepath.WalkDir(dist, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dist, at)
		if err != nil {
			return err
		}
		have, err := unpack(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		want, ok := files[strings.TrimSuffix(filepath.ToSlash(rel), ".gz")]
		if !ok || !bytes.Equal(have, want) {
			return fmt.Errorf("%s is stale: run make ui, and commit ui/dist", at)
		}
		seen++
		return nil
	})
	if err == nil && seen != len(files) {
		err = fmt.Errorf("%s has %d files of %d: run make ui, and commit ui/dist", dist, seen, len(files))
	}
	return err
}

func pack(content []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// sizes lists the files, largest first.
func sizes(packed map[string][]byte) string {
	names := slices.SortedFunc(maps.Keys(packed), func(a, b string) int { return len(packed[b]) - len(packed[a]) })
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("%s %d", name, len(packed[name])))
	}
	return strings.Join(out, ", ")
}
