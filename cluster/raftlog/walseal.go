package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	filer "github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// sealedMeta finishes what a crash has interrupted at the end of a segment.
//
// Raft-wal 0.4.2 ends a segment with an index in the same write as its last entries, and
// then records in its list that the segment is sealed and which comes next. After a crash
// between the two it appends to the sealed segment, which fails with "segment is sealed":
// the node stops, again at each start. The same happens if the crash tears the write after
// the first bytes of the index.
type sealedMeta struct {
	types.MetaStore
	files walFiles
}

// CommitState implements types.MetaStore.
func (m sealedMeta) CommitState(state types.PersistentState) error {
	if err := m.MetaStore.CommitState(state); err != nil {
		return m.files.rotated(fmt.Errorf("write the list of segments in %s: %w", m.files.dir, err))
	}
	return nil
}

// Load implements types.MetaStore.
func (m sealedMeta) Load(dir string) (types.PersistentState, error) {
	state, err := m.MetaStore.Load(dir)
	if err != nil || len(state.Segments) == 0 {
		return state, err
	}
	tail := &state.Segments[len(state.Segments)-1]
	if !tail.SealTime.IsZero() {
		return state, nil
	}
	indexStart, last, err := m.files.sealed(*tail)
	if err != nil || indexStart == 0 {
		return state, err
	}
	whole, err := m.files.wholeIndex(*tail, indexStart, last)
	if err != nil {
		return state, err
	}
	if !whole {
		return state, m.files.eraseIndex(*tail, indexStart)
	}
	tail.SealTime, tail.MaxIndex, tail.IndexStart = time.Now(), last, indexStart
	next := types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: last + 1, MinIndex: last + 1, SizeLimit: tail.SizeLimit, Codec: tail.Codec, CreateTime: time.Now(),
	}
	state.NextSegmentID++
	state.Segments = append(state.Segments, next)
	return state, m.CommitState(state)
}

// The parts of a segment's format that are needed here: a frame has a header with its kind
// and the length of its content. An index has four bytes for each entry.
const (
	frameHeaderBytes = 8
	indexEntryBytes  = 4
)

// sealed returns where the index of the newest segment begins, 0 if it has none, and the
// segment's last entry.
func (f walFiles) sealed(info types.SegmentInfo) (indexStart, last uint64, err error) {
	writer, err := f.RecoverTail(info)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil // the crash was before its first write
	}
	if err != nil {
		return 0, 0, err
	}
	has, indexStart, err := writer.Sealed()
	last = writer.LastIndex()
	if err := errors.Join(err, writer.Close()); err != nil || !has {
		return 0, last, err
	}
	return indexStart, last, nil
}

// wholeIndex reports whether the write that holds the index is whole: then the last entry is the last of the
// index, and the index has the place of each. The write of a deletion holds the index alone, so the entries may
// all be there although it was torn.
func (f walFiles) wholeIndex(info types.SegmentInfo, indexStart, last uint64) (bool, error) {
	file, err := f.files.OpenReader(f.dir, filer.FileName(info))
	if err != nil {
		return false, err
	}
	whole, err := isWholeIndex(file, info.BaseIndex, indexStart, last)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, fmt.Errorf("segment %s: read its index: %w", f.path(info), err)
	}
	return whole, nil
}

func isWholeIndex(file io.ReaderAt, base, indexStart, last uint64) (bool, error) {
	if last+1 < base {
		return false, nil
	}
	index := make([]byte, frameHeaderBytes+(last+1-base)*indexEntryBytes)
	_, err := file.ReadAt(index, int64(indexStart-frameHeaderBytes)) //nolint:gosec // an offset in a file
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	header, places := index[:frameHeaderBytes], index[frameHeaderBytes:]
	if uint64(binary.LittleEndian.Uint32(header[4:])) != uint64(len(places)) {
		return false, nil
	}
	for before := uint32(0); len(places) > 0; places = places[indexEntryBytes:] {
		place := binary.LittleEndian.Uint32(places)
		if place <= before || uint64(place) >= indexStart {
			return false, nil
		}
		before = place
	}
	return true, nil
}

// eraseIndex erases the header of an index of which the rest was not written.
func (f walFiles) eraseIndex(info types.SegmentInfo, indexStart uint64) error {
	file, err := f.files.OpenWriter(f.dir, filer.FileName(info))
	if err != nil {
		return err
	}
	_, err = file.WriteAt(make([]byte, frameHeaderBytes), int64(indexStart-frameHeaderBytes)) //nolint:gosec // an offset in a file
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("segment %s: erase the rest of a write: %w", f.path(info), err)
	}
	return nil
}
