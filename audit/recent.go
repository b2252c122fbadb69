package audit

import (
	"errors"
	"io"
)

// Recent returns lines of the log in a directory before the line with seq before, newest first: those with
// the limit highest seqs below before. before 0 means from the end. It does not check the chain, and leaves
// out lines that are damaged. next is the before of the next page; 0 means that there is none.
func Recent(dir string, before uint64, limit int) (lines []Line, next uint64, err error) {
	last, err := LastSeq(dir)
	if err != nil {
		return nil, 0, err
	}
	if before == 0 || before > last {
		before = last + 1
	}
	from := before - min(uint64(limit), before-1)
	segs, err := segments(dir)
	if err != nil {
		return nil, 0, err
	}
	if len(segs) > 0 && from > segs[0] {
		next = from
	}
	f := NewFollower(dir, from)
	defer f.Close() //nolint:errcheck // it was only read
	for {
		line, err := f.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && line.Seq >= before:
			return reversed(lines), next, nil
		case errors.Is(err, errNoLink): // it is for Verify
			continue
		case err != nil:
			return nil, 0, err
		}
		lines = append(lines, line)
	}
}

func reversed(lines []Line) []Line {
	out := make([]Line, len(lines))
	for i, line := range lines {
		out[len(lines)-1-i] = line
	}
	return out
}
