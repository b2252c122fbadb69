package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Line is one line of a log, as a Follower reads it.
type Line struct {
	Record
	Raw []byte // with hash and mac, and without the newline
}

// Follower reads the lines of a log in order, also while a node writes it. It does not check the
// chain. One goroutine may use it.
type Follower struct {
	dir    string
	next   uint64 // the seq of the line that is read next, or of the oldest line if that is later
	file   *os.File
	first  uint64 // of file
	offset int64  // in file, of the next line
	in     *bufio.Reader
	final  bool // a later file exists: no more lines are added to file
}

// NewFollower returns a follower of the log in a directory, from the line with seq next on. Lines that
// are no longer kept are skipped.
func NewFollower(dir string, next uint64) *Follower { return &Follower{dir: dir, next: max(next, 1)} }

// Close closes the file that is open.
func (f *Follower) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// Next returns the next line. The error is io.EOF if there is none yet: call Next again later.
func (f *Follower) Next() (Line, error) {
	for {
		if f.file == nil {
			if err := f.open(); err != nil {
				return Line{}, err
			}
		}
		line, err := f.line()
		switch {
		case err == nil && line.Seq < f.next:
			continue
		case err == nil:
			f.next = line.Seq + 1
			return line, nil
		case !errors.Is(err, io.EOF):
			return Line{}, err
		}
		if !f.final { // lines may have come before the later file did
			if f.final, err = f.later(); err != nil {
				return Line{}, err
			}
			if !f.final {
				return Line{}, io.EOF
			}
			continue
		}
		if err := f.leave(); err != nil {
			return Line{}, err
		}
	}
}

// open opens the segment with the next line.
func (f *Follower) open() error {
	segs, err := segments(f.dir)
	if err != nil {
		return err
	}
	if len(segs) == 0 {
		return io.EOF
	}
	first := segs[0]
	for _, s := range segs {
		if s <= f.next {
			first = s
		}
	}
	file, err := os.Open(filepath.Join(f.dir, segmentName(first)))
	if errors.Is(err, fs.ErrNotExist) {
		return io.EOF // it was removed just now
	}
	if err != nil {
		return err
	}
	f.file, f.first, f.offset, f.final, f.in = file, first, 0, false, bufio.NewReaderSize(file, lineBytesMax)
	return nil
}

// line returns the next line of the file. The error is io.EOF if it is not complete.
func (f *Follower) line() (Line, error) {
	raw, err := f.in.ReadSlice('\n')
	if err == nil {
		f.offset += int64(len(raw))
		l, err := parse(bytes.TrimSuffix(raw, []byte{'\n'}))
		return Line{l.rec, bytes.Clone(bytes.TrimSuffix(raw, []byte{'\n'}))}, err
	}
	if errors.Is(err, bufio.ErrBufferFull) { // a part of a line that no log writes
		f.offset += int64(len(raw))
		return Line{}, errNoLink
	}
	if !errors.Is(err, io.EOF) {
		return Line{}, err
	}
	if err := f.refresh(); err != nil {
		return Line{}, err
	}
	return Line{}, io.EOF
}

// refresh makes the next line be read from the file, and not from bytes that were read before. A write that
// failed may have left those, and the next write replaces them.
func (f *Follower) refresh() error {
	if f.file == nil {
		return nil
	}
	if _, err := f.file.Seek(f.offset, io.SeekStart); err != nil {
		return err
	}
	f.in.Reset(f.file)
	return nil
}

// later reports whether the log continues in a later file.
func (f *Follower) later() (bool, error) {
	segs, err := segments(f.dir)
	return err == nil && len(segs) > 0 && segs[len(segs)-1] > f.first, err
}

// leave closes the file, and continues with the one after it.
func (f *Follower) leave() error {
	segs, err := segments(f.dir)
	if err != nil {
		return err
	}
	for _, s := range segs {
		if s > f.first {
			f.next = max(f.next, s)
			break
		}
	}
	return f.Close()
}

// LastSeq returns the seq of the last complete line of the log in a directory.
func LastSeq(dir string) (uint64, error) {
	segs, err := segments(dir)
	if err != nil {
		return 0, err
	}
	if len(segs) == 0 {
		return 0, fmt.Errorf("%s holds no audit log: name the directory of audit.dir, or the audit directory in a node's data directory", dir)
	}
	f := NewFollower(dir, segs[len(segs)-1])
	defer f.Close() //nolint:errcheck // it was only read
	var last uint64
	for {
		line, err := f.Next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err == nil { // a bad line is for Verify
			last = line.Seq
		} else if !errors.Is(err, errNoLink) {
			return 0, err
		}
	}
}
