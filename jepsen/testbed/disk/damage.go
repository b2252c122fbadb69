package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is a way to damage a file.
type Kind string

const (
	// BitFlip inverts one bit.
	BitFlip Kind = "bit flip"
	// Truncate removes the end of the file.
	Truncate Kind = "truncate"
	// ZeroRange overwrites up to 64 KiB with zeros.
	ZeroRange Kind = "zero range"
	// DeleteFile deletes the file.
	DeleteFile Kind = "delete file"
)

// Kinds lists all kinds.
var Kinds = []Kind{BitFlip, Truncate, ZeroRange, DeleteFile}

// zerosMax is the size of some sectors; a whole file of zeros is another fault.
const zerosMax = 64 << 10

// sectorBytes is the least that a disk writes or loses.
const sectorBytes = 512

// parts are the essential parts of a data directory, with the names of their files.
// Each part is damaged with the same probability, however many files it has.
var parts = []struct {
	name string
	is   func(path string) bool
}{
	{"raft log", func(path string) bool {
		return strings.HasPrefix(path, "raft/") && (strings.HasSuffix(path, ".wal") || path == "raft/log.db")
	}},
	{"stable store", func(path string) bool { return path == "raft/stable.db" || path == "raft/wal/wal-meta.db" }},
	{"state", func(path string) bool { return strings.HasSuffix(path, ".sst") && !inSnapshot(path) }},
	{"snapshot", inSnapshot},
}

func inSnapshot(path string) bool { return strings.HasPrefix(path, "state/snapshots/") }

// Damage damages one file of a host's data directory and returns a description. r
// chooses the file among the log's segments, the stable store, the state's tables and
// the snapshots. The same directory and r give the same damage. The host must be
// stopped.
func Damage(dir string, kind Kind, r *rand.Rand) (string, error) {
	part, files, err := choose(dir, r)
	if err != nil {
		return "", fmt.Errorf("damage %s: %w", dir, err)
	}
	name := files[r.IntN(len(files))]
	path := filepath.Join(dir, name)
	var did string
	if kind == DeleteFile {
		did, err = "deleted", os.Remove(path)
	} else {
		did, err = damageFile(path, kind, r)
	}
	if err != nil {
		return "", fmt.Errorf("damage %s: %w", path, err)
	}
	return fmt.Sprintf("%s %s (%s)", did, name, part), nil
}

// choose picks a part and returns the names of its files that are not empty, sorted.
func choose(dir string, r *rand.Rand) (part string, files []string, err error) {
	found := make([][]string, len(parts))
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() == 0 {
			return err
		}
		name, err := filepath.Rel(dir, path)
		for i, p := range parts {
			if p.is(filepath.ToSlash(name)) {
				found[i] = append(found[i], name)
			}
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	var there []int
	for i := range parts {
		if found[i] != nil {
			there = append(there, i)
		}
	}
	if there == nil {
		return "", nil, errors.New("the directory holds no log, state or snapshot of a node")
	}
	i := there[r.IntN(len(there))]
	return parts[i].name, found[i], nil
}

// damageFile changes a file in place, so its hard links change too.
func damageFile(path string, kind Kind, r *rand.Rand) (did string, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	end, err := endOfData(file)
	if err != nil {
		return "", err
	}
	at := r.Int64N(end)
	switch kind {
	case BitFlip:
		bit := r.IntN(8)
		b := make([]byte, 1)
		if _, err := file.ReadAt(b, at); err != nil {
			return "", err
		}
		b[0] ^= 1 << bit
		_, err = file.WriteAt(b, at)
		return fmt.Sprintf("flipped bit %d of byte %d of %d in", bit, at, end), err
	case Truncate:
		return fmt.Sprintf("cut %d bytes down to %d in", end, at), file.Truncate(at)
	case ZeroRange:
		n := min(1+r.Int64N(zerosMax), end-at)
		_, err := file.WriteAt(make([]byte, n), at)
		return fmt.Sprintf("zeroed %d bytes from %d of %d in", n, at, end), err
	default:
		return "", fmt.Errorf("unknown kind of damage %q: use one of %q", kind, Kinds)
	}
}

// tailBytesMax bounds what LoseTail takes away.
const tailBytesMax = 8 << 10

// LoseTail overwrites the end of a host's Raft log with zeros, as a disk leaves it that did not
// write what it said, and returns a description. lost is false if the newest segment holds
// too little. The host must be stopped.
func LoseTail(dir string, r *rand.Rand) (did string, lost bool, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "raft", "wal", "*.wal"))
	if err != nil || len(names) == 0 {
		return "", false, errors.Join(fmt.Errorf("damage %s: the directory holds no log of a node", dir), err)
	}
	path := slices.Max(names)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", false, fmt.Errorf("damage %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	end, err := endOfData(file)
	if err != nil || end < 2*sectorBytes {
		return "", false, err
	}
	from := max(sectorBytes, end-sectorBytes-r.Int64N(tailBytesMax))
	_, err = file.WriteAt(make([]byte, end-from), from)
	return fmt.Sprintf("zeroed %d bytes at the end of %s", end-from, filepath.Base(path)), err == nil, err
}

// endOfData returns the offset of the zeros at the end of a file, at least 1. A log's
// segment is allocated as a whole, and damage to its unused end has no effect.
func endOfData(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, 1<<20)
	for end := info.Size(); end > 0; {
		from := max(0, end-int64(len(chunk)))
		part := chunk[:end-from]
		if _, err := file.ReadAt(part, from); err != nil {
			return 0, err
		}
		if data := bytes.TrimRight(part, "\x00"); len(data) > 0 {
			return from + int64(len(data)), nil
		}
		end = from
	}
	return 1, nil
}
