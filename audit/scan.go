package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// A scanner reads the lines of one segment, and checks the chain.
type scanner struct {
	in   *bufio.Reader
	seq  uint64 // of the last good line
	hash hash   // of the last good line
	size int64  // bytes of the good lines
	line int    // number of the line that was read last

	begun bool
	keys  Keys   // nil checks no macs
	key   []byte // of the lines from the last KindFile or KindStart on
}

// Keys are the keys that macs are checked with, by their ids.
type Keys map[string][]byte

// errUnfinished is the reason for a last line without its newline.
var errUnfinished = errors.New("the line is unfinished")

// next returns the next line. The error is io.EOF after the last line. Any other one says what is
// wrong with the line, and then the scan is over.
func (s *scanner) next() (*link, error) {
	raw, err := s.in.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(raw) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		s.line++
		return nil, errUnfinished
	case errors.Is(err, bufio.ErrBufferFull):
		s.line++
		return nil, errNoLink
	case err != nil:
		return nil, err
	}
	s.line++
	l, err := parse(bytes.TrimSuffix(raw, []byte{'\n'}))
	if err == nil {
		err = s.check(&l)
	}
	if err != nil {
		return nil, err
	}
	s.seq, s.hash, s.begun = l.rec.Seq, l.hash, true
	s.size += int64(len(raw))
	return &l, nil
}

// check returns what is wrong with a line.
func (s *scanner) check(l *link) error {
	prev := s.hash
	if l.rec.Kind == KindFile {
		named, ok := parseHash([]byte(l.rec.Prev))
		switch {
		case !ok || s.line != 1:
			return errors.New("the line is the beginning of another file")
		case s.begun && named != prev:
			return fmt.Errorf("the file does not continue the file before it: the line before has hash %s, and this file names %s", prev, named)
		}
		prev = named
	} else if s.line == 1 {
		return errors.New("the beginning of the file is missing")
	}
	if s.begun && l.rec.Seq != s.seq+1 {
		return fmt.Errorf("the line has seq %d, and %d must follow: lines are missing or in another order", l.rec.Seq, s.seq+1)
	}
	if l.hash != prev.next(l.body) {
		return errors.New("the hash is wrong: this line or the one before it was changed, or lines are missing or in another order")
	}
	return s.checkMac(l)
}

func (s *scanner) checkMac(l *link) error {
	if s.keys == nil {
		return nil
	}
	if l.rec.Kind == KindFile || l.rec.Kind == KindStart {
		key, ok := s.keys[l.rec.Key]
		switch {
		case l.rec.Key == "":
			return errors.New("the log has no key from this line on")
		case !ok:
			return fmt.Errorf("no key has the id %q: name the file with that cluster key", l.rec.Key)
		}
		s.key = key
	}
	if !l.has || l.mac != l.hash.mac(s.key) {
		return errors.New("the mac is wrong: the line was written by a program without the key")
	}
	return nil
}

// open continues the scan with another file.
func (s *scanner) open(f *os.File) {
	if s.in == nil {
		s.in = bufio.NewReaderSize(f, lineBytesMax)
	} else {
		s.in.Reset(f)
	}
	s.line, s.size = 0, 0
}
