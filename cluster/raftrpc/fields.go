package raftrpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// callKind is the kind of a call. Its values are part of both encodings.
type callKind byte

const (
	callAppendEntries callKind = iota
	callRequestVote
	callInstallSnapshot
	callTimeoutNow
	callRequestPreVote
)

// newRequest returns an empty request of a kind, or nil if there is no such kind.
func (k callKind) newRequest() any {
	switch k {
	case callAppendEntries:
		return new(raft.AppendEntriesRequest)
	case callRequestVote:
		return new(raft.RequestVoteRequest)
	case callInstallSnapshot:
		return new(raft.InstallSnapshotRequest)
	case callTimeoutNow:
		return new(raft.TimeoutNowRequest)
	case callRequestPreVote:
		return new(raft.RequestPreVoteRequest)
	}
	return nil
}

// readKind reads the kind of a call, and returns an empty request of it.
func readKind(in io.ByteReader) (request any, err error) {
	kind, err := in.ReadByte()
	if err != nil {
		return nil, err //nolint:wrapcheck // the connection's own
	}
	if request = callKind(kind).newRequest(); request == nil {
		return nil, fmt.Errorf("%w: there is no kind %d of call", errMalformed, kind)
	}
	return request, nil
}

// kindOf returns the kind of a request.
func kindOf(request any) callKind {
	switch request.(type) {
	case *raft.AppendEntriesRequest:
		return callAppendEntries
	case *raft.RequestVoteRequest:
		return callRequestVote
	case *raft.InstallSnapshotRequest:
		return callInstallSnapshot
	case *raft.TimeoutNowRequest:
		return callTimeoutNow
	case *raft.RequestPreVoteRequest:
		return callRequestPreVote
	}
	panic(fmt.Sprintf("raftrpc: %T is no call of Raft", request))
}

// errMalformed says that the fields of a message do not have the length that the
// frame says.
var errMalformed = errors.New("the message is malformed")

// fields encodes or decodes the fields of a message, one after the other. Both
// directions run through the same code, so that they cannot differ: numbers have
// eight bytes, big-endian, and bytes have their length in four bytes before them.
// Encoding only reads a message: Raft sends one message to several nodes at once.
type fields struct {
	decoding bool
	b        []byte // what was encoded, or what is left to decode
	failed   bool   // b ended too early
}

// next returns the next n bytes to decode, or nil if there are not so many.
func (f *fields) next(n int) []byte {
	if f.failed || n > len(f.b) {
		f.failed = true
		return nil
	}
	part := f.b[:n:n]
	f.b = f.b[n:]
	return part
}

// part is next, but for zero bytes it is nil.
func (f *fields) part(n uint32) []byte {
	if n == 0 {
		return nil
	}
	return f.next(int(n))
}

func (f *fields) uint64(v *uint64) {
	if !f.decoding {
		f.b = binary.BigEndian.AppendUint64(f.b, *v)
	} else if part := f.next(8); part != nil {
		*v = binary.BigEndian.Uint64(part)
	}
}

func (f *fields) uint32(v *uint32) {
	if !f.decoding {
		f.b = binary.BigEndian.AppendUint32(f.b, *v)
	} else if part := f.next(4); part != nil {
		*v = binary.BigEndian.Uint32(part)
	}
}

func (f *fields) byte(v *byte) {
	if !f.decoding {
		f.b = append(f.b, *v)
	} else if part := f.next(1); part != nil {
		*v = part[0]
	}
}

func (f *fields) bool(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	if f.byte(&b); f.decoding {
		f.failed = f.failed || b > 1
		*v = b == 1
	}
}

// bytes decodes to a part of f.b. Empty bytes decode to nil.
func (f *fields) bytes(v *[]byte) {
	n := uint32(len(*v)) //nolint:gosec // headBytesMax is below
	f.uint32(&n)
	if !f.decoding {
		f.b = append(f.b, *v...)
	} else {
		*v = f.part(n)
	}
}

// end returns an error unless all was decoded.
func (f *fields) end() error {
	if f.failed || len(f.b) > 0 {
		return errMalformed
	}
	return nil
}

// number encodes an integer of another type than uint64.
func number[T ~int | ~int64](f *fields, v *T) {
	n := uint64(*v) //nolint:gosec // two's complement, both ways
	if f.uint64(&n); f.decoding {
		*v = T(n) //nolint:gosec // as above
	}
}

func (f *fields) header(h *raft.RPCHeader) {
	number(f, &h.ProtocolVersion)
	f.bytes(&h.ID)
	f.bytes(&h.Addr)
}

// message encodes or decodes a request or a response, but for an AppendEntries
// call's entries.
func (f *fields) message(m any) {
	switch m := m.(type) {
	case *raft.AppendEntriesRequest:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.bytes(&m.Leader) //nolint:staticcheck // deprecated, and Raft still reads it
		f.uint64(&m.PrevLogEntry)
		f.uint64(&m.PrevLogTerm)
		f.uint64(&m.LeaderCommitIndex)
	case *raft.AppendEntriesResponse:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.uint64(&m.LastLog)
		f.bool(&m.Success)
		f.bool(&m.NoRetryBackoff)
	case *raft.RequestVoteRequest:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.bytes(&m.Candidate) //nolint:staticcheck // as above
		f.uint64(&m.LastLogIndex)
		f.uint64(&m.LastLogTerm)
		f.bool(&m.LeadershipTransfer)
	case *raft.RequestVoteResponse:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.bytes(&m.Peers)
		f.bool(&m.Granted)
	case *raft.RequestPreVoteRequest:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.uint64(&m.LastLogIndex)
		f.uint64(&m.LastLogTerm)
	case *raft.RequestPreVoteResponse:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.bool(&m.Granted)
	case *raft.TimeoutNowRequest:
		f.header(&m.RPCHeader)
	case *raft.TimeoutNowResponse:
		f.header(&m.RPCHeader)
	default:
		f.snapshot(m)
	}
}

// snapshot is message for InstallSnapshot.
func (f *fields) snapshot(m any) {
	switch m := m.(type) {
	case *raft.InstallSnapshotRequest:
		f.header(&m.RPCHeader)
		number(f, &m.SnapshotVersion)
		f.uint64(&m.Term)
		f.bytes(&m.Leader)
		f.uint64(&m.LastLogIndex)
		f.uint64(&m.LastLogTerm)
		f.bytes(&m.Peers)
		f.bytes(&m.Configuration)
		f.uint64(&m.ConfigurationIndex)
		number(f, &m.Size)
		f.failed = f.failed || m.Size < 0
	case *raft.InstallSnapshotResponse:
		f.header(&m.RPCHeader)
		f.uint64(&m.Term)
		f.bool(&m.Success)
	default:
		panic(fmt.Sprintf("raftrpc: %T is no message of Raft", m))
	}
}

// entryBytes is the size of an entry's fields.
const entryBytes = 3*8 + 3*4 + 1

// entry encodes or decodes the fields of an entry, and the sizes of its data and
// extensions.
func (f *fields) entry(e *raft.Log, data, extensions *uint32) {
	f.uint64(&e.Index)
	f.uint64(&e.Term)
	f.byte((*byte)(&e.Type))
	f.uint32(data)
	f.uint32(extensions)
	seconds, nanoseconds := e.AppendedAt.Unix(), uint32(e.AppendedAt.Nanosecond()) //nolint:gosec // below 10⁹
	number(f, &seconds)
	f.uint32(&nanoseconds)
	if f.decoding {
		e.AppendedAt = time.Unix(seconds, int64(nanoseconds)).UTC()
	}
}
