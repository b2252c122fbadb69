package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"dormouse/internal/durable"
)

// A writer writes the lines of a log. One goroutine uses it.
type writer struct {
	o    Options
	lock *flock.Flock // of the directory: two processes must not write one log
	head *os.File
	file *os.File // the last segment; nil before the first write, and if the next line begins one
	segs []uint64 // the segments, in order

	seq  uint64 // of the last line
	hash hash   // of the last line
	size int64  // of file
	torn bool   // file may have bytes beyond size

	synced uint64  // the seq of the last line that is on disk. Invariant: synced <= seq
	start  *Record // the record of KindStart, until it is written
	lost   uint64  // records that could not be written, since the last KindGap
}

// openWriter opens the log in a directory after its last good line.
func openWriter(o Options) (*writer, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.Dir)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 { // a copy, or a directory that an operator made; the chain shows what others have done
		if err := os.Chmod(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("other users may read or write %s: %w", o.Dir, err)
		}
	}
	w := &writer{o: o, start: &Record{Kind: KindStart, Key: o.KeyID}, lock: flock.New(filepath.Join(o.Dir, lockName), flock.SetPermissions(0o600))}
	if ok, err := w.lock.TryLock(); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("another process writes the audit log in %s: give each node a directory of its own", o.Dir), err)
	}
	if err := w.find(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// find finds the end of the log, and opens or makes the head.
func (w *writer) find() error {
	o := w.o
	var err error
	if w.segs, err = segments(o.Dir); err != nil {
		return err
	}
	kept, mac, err := readHead(o.Dir)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && len(w.segs) > 0:
		w.broken("the file %s is missing", headName)
	case err != nil && !missing:
		w.broken("%v", err)
	case err == nil && kept.key != "" && kept.key == o.KeyID && mac != kept.mac(o.Key):
		w.broken("the mac of the file %s is wrong", headName)
		kept = head{} // it may say anything
	}
	if err := w.resume(kept); err != nil {
		return err
	}
	if w.head, err = os.OpenFile(filepath.Join(o.Dir, headName), os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if !missing || len(w.segs) > 0 {
		return nil // the head stays until the next line: it says what the log had
	}
	if err := errors.Join(w.saveHead(), w.head.Sync(), durable.SyncDir(o.Dir)); err != nil {
		return fmt.Errorf("write the head: %w", err)
	}
	return nil
}

// broken adds to what the record of KindStart says about the log before.
func (w *writer) broken(format string, args ...any) {
	if w.start.Broken != "" {
		w.start.Broken += "; "
	}
	w.start.Broken += fmt.Sprintf(format, args...)
}

// resume finds the last good line. The lines that the head covers must be there. What follows them may
// be the rest of an interrupted write, which resume removes.
func (w *writer) resume(kept head) error {
	w.seq, w.hash = kept.last, kept.hash
	defer func() { w.synced = w.seq }()
	for len(w.segs) > 0 {
		last := w.segs[len(w.segs)-1]
		f, err := os.OpenFile(filepath.Join(w.o.Dir, segmentName(last)), os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		var s scanner
		s.open(f)
		var why error
		for why == nil {
			_, why = s.next()
		}
		info, err := f.Stat()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		w.start.Torn += int(info.Size() - s.size)
		switch {
		case !s.begun && last > kept.last: // the segment was begun, and has no line
			w.segs = w.segs[:len(w.segs)-1]
			if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
				return err
			}
			continue
		case s.begun && s.seq >= kept.last:
			w.file, w.seq, w.hash, w.size = f, s.seq, s.hash, s.size
			return errors.Join(f.Truncate(s.size), f.Sync())
		case errors.Is(why, io.EOF):
			w.broken("lines %d to %d are missing at the end", s.seq+1, kept.last)
		default:
			w.broken("%s, line %d: %v", segmentName(last), s.line, why)
		}
		// The file stays as it is, as evidence. The log continues in a new one.
		w.start.Torn, w.seq = 0, max(w.seq, last)
		return f.Close()
	}
	if kept.last > 0 {
		w.broken("all files up to line %d are missing", kept.last)
	}
	return nil
}

// first returns the seq of the first line that the log has.
func (w *writer) first() uint64 {
	if len(w.segs) > 0 {
		return w.segs[0]
	}
	return w.seq + 1
}

// saveHead writes the head. A power cut may leave the one before, which is not wrong.
func (w *writer) saveHead() error {
	h := head{first: w.first(), last: w.synced, hash: w.hash, key: w.o.KeyID}
	_, err := w.head.WriteAt(h.encode(w.o.Key), 0)
	return err
}

// write writes records and sets their Seq. If it fails, it has written none of them.
func (w *writer) write(all []*entry) error {
	if w.torn {
		if err := w.file.Truncate(w.size); err != nil {
			return err
		}
		w.torn = false
	}
	if w.file == nil || w.size >= w.o.FileBytes {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	now := stamp(w.o.Now())
	seq, last := w.seq, w.hash
	var buf []byte
	add := func(r *Record) error {
		seq++
		r.Seq, r.Time, r.Node = seq, now, w.o.Node
		body, err := r.encode()
		if err != nil {
			return err
		}
		var line []byte
		line, last = seal(last, body, w.o.Key)
		buf = append(buf, line...)
		return nil
	}
	var err error
	if w.start != nil {
		err = add(w.start)
	}
	if err == nil && w.lost > 0 {
		err = add(&Record{Kind: KindGap, LeftOut: w.lost})
	}
	for _, e := range all {
		if err == nil {
			err = add(&e.rec)
		}
	}
	if err != nil {
		return err
	}
	if err := w.append(buf); err != nil {
		return err
	}
	w.seq, w.hash, w.start, w.lost = seq, last, nil, 0
	return nil
}

// append appends bytes to the file.
func (w *writer) append(raw []byte) error {
	w.torn = true
	if w.o.fault != nil {
		if err := w.o.fault(); err != nil {
			_, _ = w.file.WriteAt(raw[:len(raw)/2], w.size) // as a full disk does
			return err
		}
	}
	if _, err := w.file.WriteAt(raw, w.size); err != nil {
		return err
	}
	w.torn = false
	w.size += int64(len(raw))
	return nil
}

// rotate begins a segment, and removes the oldest ones beyond Options.Files.
func (w *writer) rotate() error {
	if w.file != nil {
		if err := w.sync(); err != nil {
			return err
		}
	}
	first := w.seq + 1
	path := filepath.Join(w.o.Dir, segmentName(first))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600) // there is one if an attempt failed
	if err != nil {
		return err
	}
	header := &Record{Seq: first, Time: stamp(w.o.Now()), Node: w.o.Node, Kind: KindFile, Prev: w.hash.String(), Key: w.o.KeyID}
	body, err := header.encode()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	line, sum := seal(w.hash, body, w.o.Key)
	next := &writer{o: w.o, file: f}
	if err := next.append(line); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), durable.SyncDir(w.o.Dir)); err != nil {
		return errors.Join(err, f.Close())
	}
	if w.file != nil {
		_ = w.file.Close() // it is synced
	}
	w.file, w.size, w.seq, w.hash, w.synced = f, next.size, first, sum, first
	w.segs = append(w.segs, first)
	return w.prune()
}

// prune removes the oldest segments. The head names the first one that stays before that, so that an
// interrupted removal does not look like a missing file.
func (w *writer) prune() error {
	var old []uint64
	if beyond := len(w.segs) - w.o.Files; beyond > 0 {
		old, w.segs = w.segs[:beyond], w.segs[beyond:]
	}
	if err := w.saveHead(); err != nil {
		return err
	}
	if len(old) == 0 {
		return nil
	}
	if err := w.head.Sync(); err != nil {
		return err
	}
	for _, first := range old {
		if err := os.Remove(filepath.Join(w.o.Dir, segmentName(first))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sync makes all lines durable.
func (w *writer) sync() error {
	if w.file == nil || w.synced == w.seq {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	w.synced = w.seq
	return w.saveHead()
}

// close syncs and closes the files.
func (w *writer) close() error {
	var errs []error
	if w.file != nil {
		errs = append(errs, w.sync(), w.file.Close())
	}
	if w.head != nil {
		errs = append(errs, w.head.Sync(), w.head.Close())
	}
	if w.lock != nil {
		errs = append(errs, w.lock.Unlock())
	}
	return errors.Join(errs...)
}

// syncEvery bounds how long a line that no caller waits for is not on disk.
const syncEvery = time.Second
