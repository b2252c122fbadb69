package jepsen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dormouse/jepsen/check"
)

// CoverDone is one completed run of a cover, stored as one line of the state file.
type CoverDone struct {
	Key     string        `json:"key"`
	Command string        `json:"command"` // repeats the run
	Dir     string        `json:"dir"`     // of the run, in the directory of the cover
	Verdict check.Verdict `json:"verdict"`
	Ops     int           `json:"ops"` // calls that workloads judged
	Took    time.Duration `json:"took"`
	Ended   time.Time     `json:"ended"`
	Failed  string        `json:"failed,omitempty"` // why the run could not start
}

// coverState is the state file, with one line for each completed run. A cover resumes
// from it, even if its directory was moved since.
type coverState struct {
	file *os.File
	done map[string]CoverDone
}

// openState reads the file, or creates it. It drops a last line that a crash cut
// short.
func openState(path string) (*coverState, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cover: %w", err)
	}
	s := &coverState{file: f}
	if err := s.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("cover: %s: %w", path, err), f.Close())
	}
	return s, nil
}

// ReadCover returns the completed runs of the cover in a directory, in the order in which they ended.
// Dir of each is below that directory, wherever it was when the run was made. ReadCover changes
// nothing, so that the cover may go on meanwhile.
func ReadCover(dir string) ([]CoverDone, error) {
	f, err := os.Open(filepath.Join(dir, stateName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no directory of a cover: it has no %s", dir, stateName)
	}
	if err != nil {
		return nil, fmt.Errorf("cover: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	done, _, err := readState(f, dir)
	if err != nil {
		return nil, fmt.Errorf("cover: %s: %w", f.Name(), err)
	}
	return slices.SortedFunc(maps.Values(done), func(a, b CoverDone) int { return a.Ended.Compare(b.Ended) }), nil
}

// read reads the file, and cuts off a last line that is not whole.
func (s *coverState) read() (err error) {
	var whole int64
	if s.done, whole, err = readState(s.file, filepath.Dir(s.file.Name())); err != nil {
		return err
	}
	if err := s.file.Truncate(whole); err != nil {
		return err
	}
	_, err = s.file.Seek(whole, io.SeekStart)
	return err
}

// readState reads the whole lines of the state file of a cover that is in dir now. It returns the
// completed runs by key, and the bytes of those lines.
func readState(r io.Reader, dir string) (done map[string]CoverDone, whole int64, err error) {
	done = map[string]CoverDone{}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return done, whole, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var d CoverDone
		if err := json.Unmarshal(bytes.TrimSpace(line), &d); err != nil || d.Key == "" {
			return nil, 0, fmt.Errorf("line %d is not a completed run: move the file away to start the cover again", n)
		}
		if d.Failed == "" { // earlier covers recorded failed runs, which must run again
			d.Dir = filepath.Join(dir, filepath.Base(d.Dir))
			done[d.Key] = d
		}
		whole += int64(len(line))
	}
}

// add appends a completed run and syncs the file.
func (s *coverState) add(d CoverDone) error {
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cover: %w", err)
	}
	s.done[d.Key] = d
	return s.file.Sync()
}

func (s *coverState) close() error { return s.file.Close() }
