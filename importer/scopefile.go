package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
)

// A scope file holds one exported scope:
//
//	magic    8 bytes
//	frames   each: type 1 byte, length 4 bytes, CRC-32C 4 bytes, the payload
//
// Numbers are big-endian; the checksum is of the type, the length and the
// payload. The first frame is the header, as JSON. Frames of rows follow, as
// agent.AppendScopeRow writes them, in the order of their keys. The last frame
// is the footer, as JSON, with counts and a digest over all rows. No bytes
// follow it.
const (
	scopeMagic       = "DORMSCP\n"
	scopeFileFormat  = 1
	frameHeader      = 1
	frameRows        = 2
	frameFooter      = 3
	framePrefixBytes = 1 + 4 + 4
	frameBytesMax    = agent.ScopeRowsBytesMax
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ScopeFileHeader is the header of a scope file.
type ScopeFileHeader struct {
	Format       int             `json:"format"`
	RowFormat    uint32          `json:"row_format"`
	ClusterID    string          `json:"cluster_id"`
	Scope        string          `json:"scope"`
	Index        uint64          `json:"index"`
	Minted       uint64          `json:"minted"`
	FeatureLevel uint32          `json:"feature_level"`
	TimeMS       int64           `json:"time_ms"`
	Keys         uint64          `json:"keys"`
	Bytes        uint64          `json:"bytes"`
	CreatedAt    int64           `json:"created_at"`
	Policy       ScopeFilePolicy `json:"policy"`
	OwnPolicy    bool            `json:"own_policy"`
	MetadataKeys []string        `json:"metadata_keys,omitempty"`
}

// ScopeFileFooter is the footer of a scope file.
type ScopeFileFooter struct {
	Rows   uint64 `json:"rows"`
	Bytes  uint64 `json:"bytes"`  // of keys and values
	Digest string `json:"digest"` // SHA-256, in hex, over each row's key and value with their lengths
}

// rowDigest counts rows and hashes them.
type rowDigest struct {
	rows, bytes uint64
	last        []byte
	sum         hash.Hash
}

func newRowDigest() *rowDigest { return &rowDigest{sum: sha256.New()} }

// add adds the rows of a chunk, which must come in the order of their keys.
func (d *rowDigest) add(chunk []byte) (n int, err error) {
	for rest := chunk; len(rest) > 0; n++ {
		var row agent.ScopeRow
		if row, rest, err = agent.NextScopeRow(rest); err != nil {
			return n, err
		}
		if len(row.Key) == 0 || d.rows > 0 && bytes.Compare(row.Key, d.last) <= 0 {
			return n, fmt.Errorf("key %q does not come after key %q", row.Key, d.last)
		}
		d.last = append(d.last[:0], row.Key...)
		d.rows++
		d.bytes += uint64(len(row.Key) + len(row.Value))
	}
	_, _ = d.sum.Write(chunk) // never fails; the chunk contains the rows' lengths, and equal rows have equal encodings
	return n, nil
}

func (d *rowDigest) footer() ScopeFileFooter {
	return ScopeFileFooter{Rows: d.rows, Bytes: d.bytes, Digest: hex.EncodeToString(d.sum.Sum(nil))}
}

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	if len(payload) > frameBytesMax {
		return fmt.Errorf("a frame of %d bytes is larger than %d", len(payload), frameBytesMax)
	}
	prefix := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	crc := crc32.Update(crc32.Checksum(prefix, castagnoli), castagnoli, payload)
	_, err := w.Write(binary.BigEndian.AppendUint32(prefix, crc))
	if err == nil {
		_, err = w.Write(payload)
	}
	if err != nil {
		return fmt.Errorf("write the scope file: %w", err)
	}
	return nil
}

func writeJSONFrame(w io.Writer, kind byte, v any) error {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write the scope file: %w", err)
	}
	return writeFrame(w, kind, raw)
}

// errNoScopeFile is the error for a file with another beginning.
var errNoScopeFile = errors.New(`this is not a scope file of "dormctl export": its first bytes differ`)

// ScopeFile reads and checks a scope file.
type ScopeFile struct {
	Header ScopeFileHeader
	Footer ScopeFileFooter // set once Next has returned io.EOF

	r      *bufio.Reader
	digest *rowDigest
	chunks int
	ended  bool
}

// OpenScopeFile reads the header of a scope file.
func OpenScopeFile(r io.Reader) (*ScopeFile, error) {
	f := &ScopeFile{r: bufio.NewReaderSize(r, 1<<20), digest: newRowDigest()}
	magic := make([]byte, len(scopeMagic))
	if _, err := io.ReadFull(f.r, magic); err != nil || string(magic) != scopeMagic {
		return nil, errNoScopeFile
	}
	kind, payload, err := f.frame()
	if err != nil {
		return nil, fmt.Errorf("header of the scope file: %w", err)
	}
	if kind != frameHeader {
		return nil, fmt.Errorf("the scope file is damaged: it begins with a frame of type %d, not with its header", kind)
	}
	if err := json.Unmarshal(payload, &f.Header); err != nil {
		return nil, fmt.Errorf("header of the scope file: %w", err)
	}
	if h := f.Header; h.Format != scopeFileFormat || h.RowFormat != agent.ScopeRowFormat {
		return nil, fmt.Errorf("the scope file has format %d with rows of format %d, and this version reads %d with %d: use the version that wrote it",
			h.Format, h.RowFormat, scopeFileFormat, agent.ScopeRowFormat)
	}
	return f, nil
}

// frame reads one frame and verifies its checksum.
func (f *ScopeFile) frame() (kind byte, payload []byte, err error) {
	prefix := make([]byte, framePrefixBytes)
	if n, err := io.ReadFull(f.r, prefix); err != nil {
		return 0, nil, errTruncated(err, fmt.Sprintf("after %d rows, %d bytes into a frame", f.digest.rows, n))
	}
	length := binary.BigEndian.Uint32(prefix[1:])
	if length > frameBytesMax {
		return 0, nil, fmt.Errorf("a frame after %d rows says that it has %d bytes, more than %d: the file is damaged", f.digest.rows, length, frameBytesMax)
	}
	var buffer bytes.Buffer // grows with the data, not with the stated length
	if _, err := io.CopyN(&buffer, f.r, int64(length)); err != nil {
		return 0, nil, errTruncated(err, fmt.Sprintf("after %d rows", f.digest.rows))
	}
	payload = buffer.Bytes()
	if crc := crc32.Update(crc32.Checksum(prefix[:5], castagnoli), castagnoli, payload); crc != binary.BigEndian.Uint32(prefix[5:]) {
		return 0, nil, fmt.Errorf("a frame after %d rows is damaged: its checksum does not match", f.digest.rows)
	}
	return prefix[0], payload, nil
}

func errTruncated(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut short %s: export the scope again", where)
	}
	return fmt.Errorf("read %s: %w", where, err)
}

// Next returns the next chunk of rows. After the last one it checks the footer
// and returns io.EOF.
func (f *ScopeFile) Next() ([]byte, error) {
	if f.ended {
		return nil, io.EOF
	}
	kind, payload, err := f.frame()
	if err != nil {
		return nil, err
	}
	switch kind {
	case frameRows:
		if len(payload) == 0 {
			return nil, fmt.Errorf("a frame after %d rows is damaged: it is empty", f.digest.rows)
		}
		if _, err := f.digest.add(payload); err != nil {
			return nil, fmt.Errorf("row %d of the scope file: %w", f.digest.rows, err)
		}
		f.chunks++
		return payload, nil
	case frameFooter:
	default:
		return nil, fmt.Errorf("a frame after %d rows is damaged: no frame has type %d", f.digest.rows, kind)
	}
	if err := json.Unmarshal(payload, &f.Footer); err != nil {
		return nil, fmt.Errorf("footer of the scope file: %w", err)
	}
	if got := f.digest.footer(); got != f.Footer {
		return nil, fmt.Errorf("the scope file is damaged: its footer says %d rows of %d bytes with digest %s, and it has %d of %d with %s",
			f.Footer.Rows, f.Footer.Bytes, f.Footer.Digest, got.Rows, got.Bytes, got.Digest)
	}
	if _, err := f.r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the scope file is damaged: bytes follow its footer")
	}
	f.ended = true
	return nil, io.EOF
}
