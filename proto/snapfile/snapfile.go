// Package snapfile reads snapshots and backups without the store that wrote
// them, to tell what is in them and whether they are whole.
//
// A snapshot is a stream, as "dormctl backup" writes it:
//
//	magic           8 bytes
//	header length   4 bytes, big-endian
//	header CRC-32C  4 bytes, big-endian
//	header          a SnapshotHeader, which names the files
//	files           their bytes, one after the other, in the header's order
//	end mark        8 bytes
//
// or a directory of a node's snapshot store, which has the stream's beginning
// up to the files in HEADER, and the files in data. Package fsm writes both;
// its stream.go and snapstore.go are the truth about them.
package snapfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"
)

const (
	magic      = "DORMSNP\n"
	endMark    = "DORMEND\n"
	prefixSize = 8 + 4 + 4
	format     = 1
	headerMax  = 16 << 20 // bytes
	headerFile = "HEADER"
	dataDir    = "data"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Info is what is in a snapshot.
type Info struct {
	Header  *SnapshotHeader
	Bytes   uint64   // of its files
	Damages []string // what is wrong with the files; none where it is whole
}

// Inspect reads the snapshot at path, a file or a directory, whole. An error
// means that it could not be told what is in it.
func Inspect(path string) (info Info, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return Info{}, fmt.Errorf("inspect snapshot: %w", err)
	}
	if stat.IsDir() {
		return inspectDir(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return Info{}, fmt.Errorf("inspect snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return inspectStream(file)
}

func inspectStream(r io.Reader) (Info, error) {
	header, err := ReadHeader(r)
	if err != nil {
		return Info{}, err
	}
	info := newInfo(header)
	for _, f := range header.GetFiles() {
		hash := crc32.New(castagnoli)
		switch _, err := io.CopyN(hash, r, int64(f.GetSize())); {
		case errors.Is(err, io.EOF):
			info.damaged("it ends inside of %s: it was cut short", f.GetName())
			return info, nil
		case err != nil:
			return Info{}, fmt.Errorf("read %s: %w", f.GetName(), err)
		case hash.Sum32() != f.GetCrc32C():
			info.damaged("%s does not match its checksum", f.GetName())
		}
	}
	tail, err := io.ReadAll(io.LimitReader(r, int64(len(endMark))+1))
	if err != nil {
		return Info{}, fmt.Errorf("read the end mark: %w", err)
	}
	if !bytes.Equal(tail, []byte(endMark)) {
		info.damaged("the end mark is missing, or something follows it")
	}
	return info, nil
}

func newInfo(header *SnapshotHeader) Info {
	info := Info{Header: header}
	for _, f := range header.GetFiles() {
		info.Bytes += f.GetSize()
	}
	return info
}

func inspectDir(dir string) (Info, error) {
	file, err := os.Open(filepath.Join(dir, headerFile))
	if errors.Is(err, os.ErrNotExist) {
		return Info{}, noHeader(dir)
	}
	if err != nil {
		return Info{}, fmt.Errorf("inspect snapshot: %w", err)
	}
	header, err := ReadHeader(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return Info{}, err
	}
	info := newInfo(header)
	for _, f := range header.GetFiles() {
		info.checkFile(filepath.Join(dir, dataDir, filepath.Base(f.GetName())), f)
	}
	return info, nil
}

// noHeader says what dir is instead of a snapshot, if it is a store of them.
func noHeader(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*", headerFile))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("%s is no snapshot: it has no %s", dir, headerFile)
	}
	return fmt.Errorf("%s holds %d snapshots; inspect one of them, such as %s", dir, len(found), filepath.Dir(found[len(found)-1]))
}

func (i *Info) checkFile(path string, want *SnapshotFile) {
	file, err := os.Open(path)
	if err != nil {
		i.damaged("%s is missing", want.GetName())
		return
	}
	hash := crc32.New(castagnoli)
	size, err := io.Copy(hash, file)
	err = errors.Join(err, file.Close())
	switch {
	case err != nil:
		i.damaged("%s cannot be read: %v", want.GetName(), err)
	case uint64(size) != want.GetSize():
		i.damaged("%s has %d bytes, not %d", want.GetName(), size, want.GetSize())
	case hash.Sum32() != want.GetCrc32C():
		i.damaged("%s does not match its checksum", want.GetName())
	}
}

func (i *Info) damaged(format string, args ...any) {
	i.Damages = append(i.Damages, fmt.Sprintf(format, args...))
}

// ReadHeader reads and checks the beginning of a stream, up to the files.
func ReadHeader(r io.Reader) (*SnapshotHeader, error) {
	prefix := make([]byte, prefixSize)
	if _, err := io.ReadFull(r, prefix); err != nil || !bytes.Equal(prefix[:8], []byte(magic)) {
		return nil, errors.New("this is no Dormouse snapshot: its first bytes are wrong")
	}
	length := binary.BigEndian.Uint32(prefix[8:])
	if length > headerMax {
		return nil, fmt.Errorf("the snapshot's header has %d bytes, more than %d: it is damaged", length, headerMax)
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err != nil {
		return nil, fmt.Errorf("read the snapshot's header: %w", err)
	}
	if len(raw) != int(length) || crc32.Checksum(raw, castagnoli) != binary.BigEndian.Uint32(prefix[12:]) {
		return nil, errors.New("the snapshot's header is damaged: it is cut short, or its checksum does not match")
	}
	header := &SnapshotHeader{}
	if err := proto.Unmarshal(raw, header); err != nil {
		return nil, fmt.Errorf("decode the snapshot's header: %w", err)
	}
	if header.GetFormat() != format {
		return nil, fmt.Errorf("the snapshot has format %d, and this program reads format %d: use the version that wrote it", header.GetFormat(), format)
	}
	for _, f := range header.GetFiles() {
		if f.GetSize() > 1<<50 {
			return nil, fmt.Errorf("the snapshot's header says that %q has %d bytes: it is damaged", f.GetName(), f.GetSize())
		}
	}
	return header, nil
}
