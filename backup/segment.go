package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"dormouse/internal/logchain"
)

// A segment is one object: a line with the signed SegmentHead, and then the entries, encrypted if
// there are recipients. Each entry is its index, its term and its length as uvarints, and its
// bytes. Entries of Raft's own are not among them.

// Limits of a segment.
const (
	SegmentBytesMax = 64 << 20 // of the entries together, without the last one
	entryBytesMax   = 32 << 20 // of an entry: more than a log entry has
)

// Entry is an entry of the log with commits.
type Entry struct {
	Index, Term uint64
	Data        []byte
}

// SegmentHead describes a segment.
type SegmentHead struct {
	Format     int    `json:"format"`
	ClusterID  string `json:"cluster_id"`
	Node       string `json:"node"`
	From       uint64 `json:"from"`
	To         uint64 `json:"to"`
	Entries    int    `json:"entries"`
	StartChain uint32 `json:"start_chain"` // before From
	Chain      uint32 `json:"chain"`       // up to To
	Time       int64  `json:"time"`        // of the log, at To; Unix milliseconds
	Bytes      int64  `json:"bytes"`       // of what follows this line
	SHA256     string `json:"sha256"`      // of what follows this line
	Encrypted  bool   `json:"encrypted"`
}

// SegmentWriter collects the entries of a segment.
type SegmentWriter struct {
	head    SegmentHead
	content bytes.Buffer
}

// NewSegment returns an empty segment that begins behind the entry after, up to which the log has
// the chain and the time.
func NewSegment(cluster, node string, after uint64, chain uint32, time int64) *SegmentWriter {
	return &SegmentWriter{head: SegmentHead{
		Format: format, ClusterID: cluster, Node: node, From: after + 1, To: after, StartChain: chain, Chain: chain, Time: time,
	}}
}

// Add adds an entry. time is the wall time with which its leader stamped it.
func (w *SegmentWriter) Add(e Entry, time int64) error {
	sum, err := logchain.Check(e.Data)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	for _, n := range []uint64{e.Index, e.Term, uint64(len(e.Data))} {
		w.content.Write(binary.AppendUvarint(nil, n))
	}
	w.content.Write(e.Data)
	h := &w.head
	h.Chain = logchain.Next(h.Chain, e.Index, e.Term, sum)
	h.To, h.Time = e.Index, max(h.Time, time)
	h.Entries++
	return nil
}

// Extend makes the segment end at the entry to: those after the last added one are Raft's own.
func (w *SegmentWriter) Extend(to uint64) { w.head.To = max(w.head.To, to) }

// Bytes returns the size of the entries.
func (w *SegmentWriter) Bytes() int64 { return int64(w.content.Len()) }

// Head describes the segment so far, without its size and checksum.
func (w *SegmentWriter) Head() SegmentHead { return w.head }

// Empty reports whether the segment covers no index.
func (w *SegmentWriter) Empty() bool { return w.head.To < w.head.From }

// Encode returns the object of the segment.
func (w *SegmentWriter) Encode(key ed25519.PrivateKey, to Recipients) (SegmentRef, []byte, error) {
	content := w.content.Bytes()
	h := w.head
	if h.Encrypted = !to.None(); h.Encrypted {
		var sealed bytes.Buffer
		out, err := to.Seal(&sealed)
		if err != nil {
			return SegmentRef{}, nil, err
		}
		if _, err := out.Write(content); err != nil {
			return SegmentRef{}, nil, err
		}
		if err := out.Close(); err != nil {
			return SegmentRef{}, nil, err
		}
		content = sealed.Bytes()
	}
	sum := sha256.Sum256(content)
	h.Bytes, h.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
	line, err := sign(key, h)
	if err != nil {
		return SegmentRef{}, nil, err
	}
	return SegmentRef{From: h.From, To: h.To, Node: h.Node, Bytes: int64(len(line) + len(content))}, append(line, content...), nil
}

// Segment is a segment that was read whole, and verified.
type Segment struct {
	SegmentHead
	All []Entry
	// chains are the chains up to each entry of All.
	chains []uint32
}

// decodeSegment reads a segment, and verifies its signature, checksum, entries and chain.
func decodeSegment(r io.Reader, t Trust, ids Identities) (*Segment, error) {
	in := bufio.NewReaderSize(r, documentBytesMax)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("it is damaged: its first line cannot be read: %w", err)
	}
	s := &Segment{}
	if _, err := t.open(line, &s.SegmentHead); err != nil {
		return nil, err
	}
	if s.Format != format {
		return nil, fmt.Errorf("it has format %d, and this program reads format %d: use the version that wrote it", s.Format, format)
	}
	if s.Bytes < 0 || s.Bytes > SegmentBytesMax+2*entryBytesMax {
		return nil, fmt.Errorf("it has %d bytes, more than a segment may have", s.Bytes)
	}
	content, err := io.ReadAll(io.LimitReader(in, s.Bytes+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); int64(len(content)) != s.Bytes || hex.EncodeToString(sum[:]) != s.SHA256 {
		return nil, fmt.Errorf("it is damaged or truncated: it has %d bytes, or fewer than it should, %d, or its SHA-256 does not match", len(content), s.Bytes)
	}
	plain, err := ids.Open(bytes.NewReader(content), s.Encrypted)
	if err != nil {
		return nil, err
	}
	if err := s.read(bufio.NewReader(plain)); err != nil {
		return nil, fmt.Errorf("its entries are damaged: %w", err)
	}
	return s, nil
}

// read decodes the entries, and compares the chain.
func (s *Segment) read(r *bufio.Reader) error {
	chain, last := s.StartChain, s.From-1
	for {
		index, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		term, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		size, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if index <= last || index > s.To || size > entryBytesMax {
			return fmt.Errorf("entry %d of %d bytes comes after entry %d", index, size, last)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		sum, err := logchain.Check(data)
		if err != nil {
			return fmt.Errorf("entry %d: %w", index, err)
		}
		chain, last = logchain.Next(chain, index, term, sum), index
		s.All, s.chains = append(s.All, Entry{index, term, data}), append(s.chains, chain)
	}
	if len(s.All) != s.Entries || chain != s.Chain {
		return fmt.Errorf("it has %d entries with chain %08x, and should have %d with chain %08x", len(s.All), chain, s.Entries, s.Chain)
	}
	return nil
}

// ChainAt returns the chain up to an index, which is at least From-1 and at most To.
func (s *Segment) ChainAt(index uint64) uint32 {
	after, _ := slices.BinarySearchFunc(s.All, index+1, func(e Entry, i uint64) int { return cmp.Compare(e.Index, i) })
	if after == 0 {
		return s.StartChain
	}
	return s.chains[after-1]
}
