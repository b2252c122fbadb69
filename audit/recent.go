package audit

import (
	"errors"
	"io"
)

// Recent returns the lines of the log in a directory before the line with seq before, newest first and
// at most limit; before 0 means from the end. It does not check the chain.
func Recent(dir string, before uint64, limit int) ([]Line, error) {
	last, err := LastSeq(dir)
	if err != nil {
		return nil, err
	}
	if before == 0 || before > last {
		before = last + 1
	}
	f := NewFollower(dir, before-min(uint64(limit), before-1))
	defer f.Close() //nolint:errcheck // it was only read
	var lines []Line
	for {
		line, err := f.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && line.Seq >= before:
			return reversed(lines), nil
		case err != nil:
			return nil, err
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
