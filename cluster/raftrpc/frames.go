package raftrpc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"

	"github.com/hashicorp/raft"
)

// A call is
//
//	kind ‖ size of the head ‖ head ‖ body
//
// and a reply is
//
//	size of the head ‖ head
//
// A size is four bytes, big-endian. The head of a call has the fields of its
// message. An AppendEntries call's head goes on with the fields of each entry and
// the sizes of its data and extensions, and its body is the data and the extensions
// of each entry, in order. An InstallSnapshot call's body is the snapshot. The head
// of a reply is an error, or "", whether there is a response, and its fields.
//
// With SummedFrames a head ends with the CRC-32C of the frame up to there. That of an
// AppendEntries call has before it the CRC-32C of the extensions of all entries, and of
// the data of those that are no commands: the data of commands has a checksum in it.
const (
	// AppendBytesMax bounds the data and extensions of one AppendEntries call.
	AppendBytesMax = 64 << 20
	// entriesMax bounds the entries of one AppendEntries call. It is the largest
	// MaxAppendEntries that Raft accepts.
	entriesMax = 1024
	// headBytesMax bounds a head. A configuration of 10,000 nodes fits.
	headBytesMax = 1 << 20
	// errorBytesMax bounds the error of a reply. A longer one is cut.
	errorBytesMax = 4 << 10

	// sharedBytesMax bounds the buffer that entries share. An entry that is kept in
	// memory keeps no more than that alive. A larger entry has a buffer of its own.
	sharedBytesMax = 256 << 10
	// readBuffer and writeBuffer are the buffers of a connection.
	readBuffer, writeBuffer = 64 << 10, 64 << 10

	sumBytes = 4 // of a checksum
)

// errTooLarge says that a frame is past a limit.
var errTooLarge = errors.New("the frame is too large")

// errDamaged says that a frame is not what was sent.
var errDamaged = errors.New("the frame was damaged on its way here: its checksum differs")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frames is the callCodec of Frames and SummedFrames.
type frames struct {
	sums bool // heads end with a checksum
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer // nil if tcp is set
	tcp  *net.TCPConn  // nil if the connection is not TCP, or TLS lies between

	// Memory that is used again for each message.

	head  []byte       // of a message that is written
	vec   net.Buffers  // of a call that is written
	sizes []entrySizes // of the entries of a call that is read
}

// entrySizes are the sizes of an entry's data and extensions.
type entrySizes struct{ data, extensions uint32 }

func (s entrySizes) all() int { return int(s.data) + int(s.extensions) }

// overTCP is implemented by connections that know whether they write to TCP
// without a layer between.
type overTCP interface {
	// TCP returns the connection that all bytes go to as they are, or nil.
	TCP() *net.TCPConn
}

func newFrames(c net.Conn) *frames {
	f := &frames{conn: c, in: bufio.NewReaderSize(c, readBuffer)}
	switch c := c.(type) {
	case *net.TCPConn:
		f.tcp = c
	case overTCP:
		f.tcp = c.TCP()
	}
	if f.tcp == nil {
		f.out = bufio.NewWriterSize(c, writeBuffer)
	}
	return f
}

func (f *frames) writeCall(request any) error {
	var entries []*raft.Log
	if appended, ok := request.(*raft.AppendEntriesRequest); ok {
		entries = appended.Entries
	}
	h := fields{b: append(f.head[:0], byte(kindOf(request)), 0, 0, 0, 0)}
	h.message(request)
	body := 0
	for _, e := range entries {
		data, extensions := uint32(len(e.Data)), uint32(len(e.Extensions)) //nolint:gosec // AppendBytesMax is below
		h.entry(e, &data, &extensions)
		body += len(e.Data) + len(e.Extensions)
	}
	if f.sums && kindOf(request) == callAppendEntries {
		sum := sumOf(entries)
		h.uint32(&sum)
	}
	size := f.seal(&h, 1)
	f.head = h.b
	if err := checkSizes(size, len(entries), body); err != nil {
		return err
	}
	return f.write(h.b, entries)
}

// seal completes a head: it sets the size, which is at a place in h, and adds the
// checksum. It returns the size.
func (f *frames) seal(h *fields, at int) (size int) {
	if size = len(h.b) - at - 4; f.sums {
		size += sumBytes
	}
	binary.BigEndian.PutUint32(h.b[at:], uint32(size)) //nolint:gosec // see checkSizes
	if f.sums {
		sum := crc32.Checksum(h.b, castagnoli)
		h.uint32(&sum)
	}
	return size
}

// sumOf returns the checksum of the parts of entries that hold none.
func sumOf(entries []*raft.Log) (sum uint32) {
	for _, e := range entries {
		if e.Type != raft.LogCommand {
			sum = crc32.Update(sum, castagnoli, e.Data)
		}
		sum = crc32.Update(sum, castagnoli, e.Extensions)
	}
	return sum
}

// checkSizes returns an error if a frame is past a limit.
func checkSizes(head, entries, body int) error {
	switch {
	case head > headBytesMax:
		return fmt.Errorf("%w: a head of %d bytes, at most %d", errTooLarge, head, headBytesMax)
	case entries > entriesMax:
		return fmt.Errorf("%w: %d entries, at most %d", errTooLarge, entries, entriesMax)
	case body > AppendBytesMax:
		return fmt.Errorf("%w: entries of %d bytes, at most %d", errTooLarge, body, AppendBytesMax)
	}
	return nil
}

// write writes a head, and the data and extensions of entries from where they lie.
func (f *frames) write(head []byte, entries []*raft.Log) error {
	if f.tcp == nil {
		_, err := f.out.Write(head)
		for _, e := range entries {
			if err == nil {
				_, err = f.out.Write(e.Data)
			}
			if err == nil {
				_, err = f.out.Write(e.Extensions)
			}
		}
		return errors.Join(err, f.out.Flush())
	}
	if len(entries) == 0 {
		_, err := f.tcp.Write(head)
		return err //nolint:wrapcheck // the connection's own
	}
	parts := append(f.vec[:0], head)
	for _, e := range entries {
		if len(e.Data) > 0 {
			parts = append(parts, e.Data)
		}
		if len(e.Extensions) > 0 {
			parts = append(parts, e.Extensions)
		}
	}
	f.vec = parts
	_, err := f.vec.WriteTo(f.tcp) // it takes from f.vec what it has written
	clear(parts)                   // they must keep no entry alive
	f.vec = parts
	return err //nolint:wrapcheck // the connection's own
}

func (f *frames) readCall() (any, io.Reader, error) {
	request, err := readKind(f.in)
	if err != nil {
		return nil, nil, err
	}
	head, err := f.readHead(byte(kindOf(request)))
	if err != nil {
		return nil, nil, err
	}
	h := fields{decoding: true, b: head}
	h.message(request)
	switch r := request.(type) {
	case *raft.AppendEntriesRequest:
		r.Entries, err = f.readSummed(&h)
		return r, nil, err
	case *raft.InstallSnapshotRequest:
		return r, io.LimitReader(f.in, r.Size), h.end()
	}
	return request, nil, h.end()
}

// readSummed is readEntries, and checks their checksum if there is one.
func (f *frames) readSummed(h *fields) ([]*raft.Log, error) {
	if !f.sums {
		return f.readEntries(h)
	}
	sized := len(h.b) - sumBytes
	if h.failed || sized < 0 {
		return nil, errMalformed
	}
	sum := binary.BigEndian.Uint32(h.b[sized:])
	h.b = h.b[:sized]
	entries, err := f.readEntries(h)
	if err == nil && sumOf(entries) != sum {
		return nil, errDamaged
	}
	return entries, err
}

// readEntries decodes the entries that the rest of a head describes. Entries that
// follow each other share buffers.
func (f *frames) readEntries(h *fields) ([]*raft.Log, error) {
	count := len(h.b) / entryBytes
	if h.failed || count*entryBytes != len(h.b) {
		return nil, errMalformed
	}
	if count == 0 {
		return nil, nil
	}
	if err := checkSizes(0, count, 0); err != nil {
		return nil, err
	}
	entries, pointers, sizes, body := make([]raft.Log, count), make([]*raft.Log, count), f.sizes[:0], 0
	for i := range entries {
		var s entrySizes
		h.entry(&entries[i], &s.data, &s.extensions)
		body += s.all()
		pointers[i], sizes = &entries[i], append(sizes, s)
	}
	f.sizes = sizes
	if err := checkSizes(0, count, body); err != nil {
		return nil, err
	}
	for next := 0; next < count; {
		first, shared := next, 0
		for ; next < count; next++ {
			if next > first && shared+sizes[next].all() > sharedBytesMax {
				break
			}
			shared += sizes[next].all()
		}
		buffer, err := f.readBytes(shared)
		if err != nil {
			return nil, err
		}
		rest := fields{decoding: true, b: buffer}
		for i := first; i < next; i++ {
			entries[i].Data = rest.part(sizes[i].data)
			entries[i].Extensions = rest.part(sizes[i].extensions)
		}
	}
	return pointers, nil
}

func (f *frames) writeReply(response raft.RPCResponse) error {
	h := fields{b: append(f.head[:0], 0, 0, 0, 0)}
	var text []byte
	if response.Error != nil {
		text = []byte(response.Error.Error())
		text = text[:min(len(text), errorBytesMax)]
	}
	h.bytes(&text)
	answered := response.Response != nil
	h.bool(&answered)
	if answered {
		h.message(response.Response)
	}
	size := f.seal(&h, 0)
	f.head = h.b
	if err := checkSizes(size, 0, 0); err != nil {
		return err
	}
	return f.write(h.b, nil)
}

func (f *frames) readReply(response any) (refused, err error) {
	head, err := f.readHead()
	if err != nil {
		return nil, err
	}
	h := fields{decoding: true, b: head}
	var text []byte
	var answered bool
	h.bytes(&text)
	h.bool(&answered)
	if answered {
		h.message(response)
	}
	if len(text) > 0 {
		refused = errors.New(string(text))
	}
	return refused, h.end()
}

// readHead reads the size of a head, and the head. before is what of the frame comes
// before the size.
func (f *frames) readHead(before ...byte) ([]byte, error) {
	size, err := f.in.Peek(4)
	if err != nil {
		return nil, unexpected(err)
	}
	n := binary.BigEndian.Uint32(size)
	sum := crc32.Update(crc32.Checksum(before, castagnoli), castagnoli, size)
	_, _ = f.in.Discard(4) // it was peeked
	if n > headBytesMax {
		return nil, checkSizes(int(n), 0, 0)
	}
	head, err := f.readBytes(int(n))
	if err != nil || !f.sums {
		return head, err
	}
	if len(head) < sumBytes {
		return nil, errMalformed
	}
	head, tail := head[:len(head)-sumBytes], head[len(head)-sumBytes:]
	if crc32.Update(sum, castagnoli, head) != binary.BigEndian.Uint32(tail) {
		return nil, errDamaged
	}
	return head, nil
}

// readBytes reads n bytes into memory that grows with what has come.
func (f *frames) readBytes(n int) ([]byte, error) {
	b := make([]byte, min(n, sharedBytesMax))
	for have := 0; ; {
		if _, err := io.ReadFull(f.in, b[have:]); err != nil {
			return nil, unexpected(err)
		}
		if have = len(b); have == n {
			return b, nil
		}
		grown := make([]byte, min(n, 2*have))
		copy(grown, b)
		b = grown
	}
}

// unexpected returns io.ErrUnexpectedEOF in place of io.EOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
