package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"dormouse/fsm/command"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// A snapshot is one stream, between nodes and as a backup:
//
//	magic           8 bytes
//	header length   4 bytes, big-endian
//	header CRC-32C  4 bytes
//	header          a snapfile.SnapshotHeader, which names the files
//	files           their bytes, one after the other, in the header's order
//	end mark        8 bytes
//
// The header holds each file's size and CRC-32C, so the length of the stream is known from the
// start. A stream that is truncated, damaged or too long is never accepted as a snapshot.
const (
	streamMagic   = "DORMSNP\n"
	StreamEnd     = "DORMEND\n"
	PrefixBytes   = 8 + 4 + 4
	StreamFormat  = 1
	headerMax     = 16 << 20 // bytes of a header: filesMax names fit
	filesMax      = 1 << 16  // files of a snapshot; an engine has one for each few megabytes
	fileNameMax   = 64       // bytes of a file's name
	CopyChunkSize = 256 << 10
)

// EncodeHeader returns the beginning of a stream: magic, length, CRC and header.
func EncodeHeader(h *snapfile.SnapshotHeader) ([]byte, error) {
	raw := command.Marshal(h)
	if len(raw) > headerMax || len(h.Files) > filesMax {
		return nil, fmt.Errorf("encode snapshot header: %d files in %d bytes are too many", len(h.Files), len(raw))
	}
	b := append(make([]byte, 0, PrefixBytes+len(raw)), streamMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(raw)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(raw, command.Castagnoli))
	return append(b, raw...), nil
}

// HeaderLength checks a stream's first PrefixBytes and returns the length of the header.
func HeaderLength(prefix []byte) (int, error) {
	if !bytes.Equal(prefix[:8], []byte(streamMagic)) {
		return 0, errors.New("this is no Dormouse snapshot: its first bytes are wrong")
	}
	length := binary.BigEndian.Uint32(prefix[8:])
	if length > headerMax {
		return 0, fmt.Errorf("snapshot header has %d bytes, more than %d: it is damaged", length, headerMax)
	}
	return int(length), nil
}

// DecodeHeader parses and checks the header after the prefix.
func DecodeHeader(prefix, raw []byte) (*snapfile.SnapshotHeader, error) {
	if crc := binary.BigEndian.Uint32(prefix[12:]); crc != crc32.Checksum(raw, command.Castagnoli) {
		return nil, errors.New("snapshot header is damaged: its checksum does not match")
	}
	h := &snapfile.SnapshotHeader{}
	if err := command.Unmarshal(raw, h); err != nil {
		return nil, fmt.Errorf("decode snapshot header: %w", err)
	}
	if h.Format != StreamFormat {
		return nil, fmt.Errorf("%w: this snapshot was written by a newer version (format %d; this one reads format %d): "+
			"upgrade this node", storage.ErrForeign, h.Format, StreamFormat)
	}
	if len(h.Files) > filesMax {
		return nil, fmt.Errorf("snapshot header names %d files, more than %d", len(h.Files), filesMax)
	}
	seen := make(map[string]bool, len(h.Files))
	var total uint64
	for _, f := range h.Files {
		if !ValidFileName(f.Name) || seen[f.Name] {
			return nil, fmt.Errorf("snapshot header names a file %q, which no engine has", f.Name)
		}
		seen[f.Name] = true
		if total += f.Size; f.Size > 1<<50 || total > 1<<60 {
			return nil, fmt.Errorf("snapshot header says that file %q has %d bytes: it is damaged", f.Name, f.Size)
		}
	}
	return h, nil
}

// ValidFileName reports whether an engine could give a file this name: letters, digits, dots and
// dashes, beginning with a letter or digit. Such a name is neither a path out of a directory nor
// hidden.
func ValidFileName(name string) bool {
	if name == "" || len(name) > fileNameMax || name == lockName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alphanumeric := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alphanumeric && (i == 0 || c != '.' && c != '-' && c != '_') {
			return false
		}
	}
	return true
}

// lockName is the file with which an engine locks its directory. It is not part of a snapshot.
const lockName = "LOCK"

// StreamBytes returns the exact length of the stream of a snapshot with the given encoded header.
func StreamBytes(encodedHeader []byte, h *snapfile.SnapshotHeader) int64 {
	size := int64(len(encodedHeader)) + int64(len(StreamEnd))
	for _, f := range h.Files {
		size += int64(f.Size)
	}
	return size
}

// DescribeFiles returns the files in dir with their sizes and checksums, in name order. It takes
// the description of a table file from known if the size is equal: an engine never changes a table
// file, and never reuses its name.
func DescribeFiles(fs storage.FS, dir string, known map[string]*snapfile.SnapshotFile) ([]*snapfile.SnapshotFile, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	slices.Sort(names)
	files := make([]*snapfile.SnapshotFile, 0, len(names))
	for _, name := range names {
		if name == lockName {
			continue
		}
		if !ValidFileName(name) {
			return nil, fmt.Errorf("snapshot has a file %q, which no engine has", name)
		}
		file, err := describeFile(fs, dir, name, known[name])
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func describeFile(fs storage.FS, dir, name string, known *snapfile.SnapshotFile) (*snapfile.SnapshotFile, error) {
	path := fs.PathJoin(dir, name)
	info, err := fs.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", path, err)
	}
	if known != nil && known.Size == uint64(info.Size()) && Unchanging(name) {
		return known, nil
	}
	f, err := fs.Open(path)
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", path, err)
	}
	crc := crc32.New(command.Castagnoli)
	n, err := io.CopyBuffer(crc, onlyReader{f}, make([]byte, min(CopyChunkSize, info.Size()+1)))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("describe %s: %w", path, err)
	}
	return &snapfile.SnapshotFile{Name: name, Size: uint64(n), Crc32C: crc.Sum32()}, nil
}

// Unchanging reports whether an engine writes files of that name only once.
func Unchanging(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// onlyReader hides the other methods of a file.
type onlyReader struct{ io.Reader }

// streamReader reads the stream of a snapshot whose files are in dir.
type streamReader struct {
	fs     storage.FS
	dir    string
	header []byte // the unread part of the encoded header
	files  []*snapfile.SnapshotFile
	file   storage.File // of files[0]; nil before it is opened
	left   uint64       // unread bytes of file
	end    []byte       // the unread part of the end mark
}

// NewStreamReader returns a reader of a snapshot as a stream. It closes the files that it reads.
func NewStreamReader(fs storage.FS, dir string, encodedHeader []byte, h *snapfile.SnapshotHeader) *streamReader {
	return &streamReader{fs: fs, dir: dir, header: encodedHeader, files: h.Files, end: []byte(StreamEnd)}
}

// Read implements io.Reader.
func (r *streamReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.header) > 0 {
		n := copy(p, r.header)
		r.header = r.header[n:]
		return n, nil
	}
	for len(r.files) > 0 {
		n, err := r.readFile(p)
		if n > 0 || err != nil {
			return n, err
		}
	}
	if len(r.end) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.end)
	r.end = r.end[n:]
	return n, nil
}

// readFile reads from the first of the files, and removes it from the list at its end.
func (r *streamReader) readFile(p []byte) (int, error) {
	name := r.files[0].Name
	if r.file == nil {
		f, err := r.fs.Open(r.fs.PathJoin(r.dir, name))
		if err != nil {
			return 0, fmt.Errorf("stream %s: %w", name, err)
		}
		r.file, r.left = f, r.files[0].Size
	}
	if r.left == 0 {
		err := r.file.Close()
		r.file, r.files = nil, r.files[1:]
		return 0, err
	}
	n, err := r.file.Read(p[:min(uint64(len(p)), r.left)])
	r.left -= uint64(n)
	if errors.Is(err, io.EOF) {
		err = nil
		if n == 0 {
			err = fmt.Errorf("stream %s: it lacks its last %d bytes: %w", name, r.left, io.ErrUnexpectedEOF)
		}
	}
	return n, err
}

// Close implements io.Closer.
func (r *streamReader) Close() error {
	r.header, r.files, r.end = nil, nil, nil
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
