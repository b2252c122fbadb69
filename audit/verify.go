package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Report is what Verify found.
type Report struct {
	Files int    `json:"files"`
	Lines uint64 `json:"lines"` // good ones
	First uint64 `json:"first"` // seq of the first line
	Last  uint64 `json:"last"`  // seq of the last good line
	Hash  string `json:"hash"`  // of that line
	Keyed bool   `json:"keyed"` // the macs were checked
	Fault *Fault `json:"fault,omitempty"`

	Unfinished int       `json:"unfinished_bytes,omitempty"` // at the end: a write that was interrupted, or that is going on
	Notes      []Warning `json:"notes,omitempty"`            // what the log says about itself
}

// Warning is a line of the log that says that something was wrong before it: records that were not
// written, or a log that was broken when a node opened it.
type Warning struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"`
}

// warningsMax bounds the warnings of a report.
const warningsMax = 100

// Fault is the first thing that is wrong with a log.
type Fault struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // in the file, from 1; 0 means the whole file
	Seq    uint64 `json:"seq"`  // of the last good line before it; 0 means none
	Reason string `json:"reason"`
}

// String returns what is wrong, and where.
func (f *Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Reason)
	}
	return fmt.Sprintf("%s, line %d: %s", f.File, f.Line, f.Reason)
}

// Verify checks the chain of a log: of a directory with all its files, or of one file. With keys it
// checks the macs too; nil checks hashes only, which anybody who can write the files can compute. The
// error says why the log could not be read. What is wrong with the log is in Report.Fault.
//
// The end of a single file, and the beginning of the first one, are known only from the directory.
func Verify(path string, keys Keys) (Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Report{}, err
	}
	v := &verifier{report: Report{Keyed: keys != nil}, scan: scanner{keys: keys}}
	if !info.IsDir() {
		err = v.file(path)
		if err == nil && v.report.Unfinished > 0 {
			v.fault(path, errUnfinished)
		}
	} else {
		err = v.directory(path)
	}
	v.report.Last, v.report.Hash = v.scan.seq, v.scan.hash.String()
	return v.report, err
}

type verifier struct {
	report Report
	scan   scanner

	watched uint64 // the seq of the line that the head names
	found   hash   // its hash; zero until it was read
}

func (v *verifier) fault(file string, reason error) {
	v.report.Fault = &Fault{File: filepath.Base(file), Line: v.scan.line, Seq: v.scan.seq, Reason: reason.Error()}
}

func (v *verifier) missing(file, format string, args ...any) {
	v.report.Fault = &Fault{File: filepath.Base(file), Seq: v.scan.seq, Reason: fmt.Sprintf(format, args...)}
}

// directory checks all files, and that none is missing at either end.
func (v *verifier) directory(dir string) error {
	// The head first: a running node writes lines before it writes the head.
	kept, mac, headErr := readHead(dir)
	segs, err := segments(dir)
	if err != nil {
		return err
	}
	if len(segs) == 0 && errors.Is(headErr, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no audit log: name the directory of audit.dir, or the audit directory in a node's data directory", dir)
	}
	v.watched = kept.last
	for i, first := range segs {
		name := filepath.Join(dir, segmentName(first))
		switch {
		case i == 0 && headErr == nil && first > kept.first:
			v.missing(name, "the log begins with line %d, and must begin with line %d: files before this one are missing", first, kept.first)
			return nil
		case i > 0 && first != v.scan.seq+1:
			v.missing(name, "the file before it ends with line %d: files or lines between are missing", v.scan.seq)
			return nil
		}
		if err := v.file(name); err != nil || v.report.Fault != nil {
			return err
		}
		if i == 0 && v.report.Lines > 0 && v.report.First != first {
			v.missing(name, "the file begins with line %d, and its name says %d", v.report.First, first)
			return nil
		}
		if v.report.Unfinished > 0 && i < len(segs)-1 {
			v.fault(name, errUnfinished)
			return nil
		}
	}
	v.head(filepath.Join(dir, headName), kept, mac, headErr)
	return nil
}

// head checks what the head says.
func (v *verifier) head(path string, kept head, mac hash, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.missing(path, "the file is missing: lines at the end of the log may be missing too")
	case err != nil:
		v.missing(path, "%v", err)
	case kept.last > v.scan.seq:
		v.missing(path, "the log ends with line %d, and must go on to line %d: lines or files at the end are missing", v.scan.seq, kept.last)
	case kept.last > 0 && v.found != kept.hash:
		v.missing(path, "line %d has hash %s, and must have %s: the log was written again", kept.last, v.found, kept.hash)
	case v.scan.keys != nil:
		if key, ok := v.scan.keys[kept.key]; !ok {
			v.missing(path, "no key has the id %q: name the file with that cluster key", kept.key)
		} else if mac != kept.mac(key) {
			v.missing(path, "the mac is wrong: the file was written by a program without the key")
		}
	}
}

// file checks one file, which continues the one before.
func (v *verifier) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	v.report.Files++
	v.scan.open(f)
	for {
		l, err := v.scan.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errUnfinished):
			info, err := f.Stat()
			if err != nil {
				return err
			}
			v.report.Unfinished = int(info.Size() - v.scan.size)
			return nil
		case err != nil:
			v.fault(path, err)
			return nil
		}
		v.line(l)
	}
}

// line takes a good line into the report.
func (v *verifier) line(l *link) {
	if v.report.Lines == 0 {
		v.report.First = l.rec.Seq
	}
	v.report.Lines++
	if l.rec.Seq == v.watched {
		v.found = l.hash
	}
	text := l.rec.Broken
	if l.rec.Kind == KindGap {
		text = fmt.Sprintf("%d records were not written", l.rec.LeftOut)
	}
	if text != "" && len(v.report.Notes) < warningsMax {
		v.report.Notes = append(v.report.Notes, Warning{l.rec.Seq, text})
	}
}
