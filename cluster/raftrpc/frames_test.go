package raftrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// tape is a connection that was recorded: what is written to it is kept, and what is
// read from it was set before.
type tape struct {
	net.Conn
	io.Reader
	written bytes.Buffer
}

func (t *tape) Read(b []byte) (int, error)  { return t.Reader.Read(b) }
func (t *tape) Write(b []byte) (int, error) { return t.written.Write(b) }

// encode returns the frame of a call.
func encode(tb testing.TB, request any) []byte {
	tb.Helper()
	to := new(tape)
	if err := newFrames(to).writeCall(request); err != nil {
		tb.Fatal(err)
	}
	return to.written.Bytes()
}

func decode(frame []byte) (any, io.Reader, error) {
	return newFrames(&tape{Reader: bytes.NewReader(frame)}).readCall()
}

// With checksums no bit of a frame can change unnoticed, but for the data of commands, which
// has a checksum of its own.
func TestDamagedFramesAreRefused(t *testing.T) {
	command := []byte("data of a command")
	appended := &raft.AppendEntriesRequest{Term: 3, Entries: []*raft.Log{
		{Index: 1, Term: 2, Type: raft.LogConfiguration, Data: []byte("data of a configuration"), Extensions: []byte("extensions")},
		{Index: 2, Term: 3, Type: raft.LogCommand, Data: command, Extensions: []byte("more extensions")},
	}}
	for _, request := range []any{
		appended, &raft.AppendEntriesRequest{Term: 3}, &raft.RequestVoteRequest{Term: 3}, &raft.RequestPreVoteRequest{Term: 3},
		&raft.TimeoutNowRequest{}, &raft.InstallSnapshotRequest{Term: 3, Configuration: []byte("data of a configuration")},
	} {
		to := new(tape)
		f := newFrames(to)
		f.sums = true
		if err := f.writeCall(request); err != nil {
			t.Fatal(err)
		}
		frame := to.written.Bytes()
		read := func() (any, error) {
			f := newFrames(&tape{Reader: bytes.NewReader(frame)})
			f.sums = true
			got, _, err := f.readCall()
			return got, err
		}
		if got, err := read(); err != nil || reflect.TypeOf(got) != reflect.TypeOf(request) {
			t.Fatalf("%T undamaged: %T, %v", request, got, err)
		}
		apart := bytes.Index(frame, command)
		for i := range frame {
			if apart >= 0 && i >= apart && i < apart+len(command) {
				continue
			}
			for bit := range 8 {
				frame[i] ^= 1 << bit
				if got, err := read(); err == nil {
					t.Errorf("%T with bit %d of byte %d changed is %+v", request, bit, i, got)
				}
				frame[i] ^= 1 << bit
			}
		}
	}
	to := new(tape)
	f := newFrames(to)
	f.sums = true
	if err := f.writeReply(raft.RPCResponse{Response: &raft.RequestVoteResponse{Term: 3, Granted: false}}); err != nil {
		t.Fatal(err)
	}
	frame := to.written.Bytes()
	for i := range frame {
		for bit := range 8 {
			frame[i] ^= 1 << bit
			f := newFrames(&tape{Reader: bytes.NewReader(frame)})
			f.sums = true
			var response raft.RequestVoteResponse
			if _, err := f.readReply(&response); err == nil {
				t.Errorf("a reply with bit %d of byte %d changed is %+v", bit, i, response)
			}
			frame[i] ^= 1 << bit
		}
	}
}

// Each limit holds at its edge, for the sender and for the receiver.
func TestFramesHaveLimits(t *testing.T) {
	entry := func(data, extensions int) *raft.Log {
		return &raft.Log{Data: make([]byte, data), Extensions: make([]byte, extensions)}
	}
	entries := func(n int) (out []*raft.Log) {
		for range n {
			out = append(out, entry(1, 0))
		}
		return out
	}
	empty := new(raft.InstallSnapshotRequest)
	head := len(encode(t, empty)) - 5
	for name, c := range map[string]struct {
		fits, large any
		raise       func(frame []byte) // makes the frame of fits one of large
	}{
		"entries": {
			&raft.AppendEntriesRequest{Entries: entries(entriesMax)}, &raft.AppendEntriesRequest{Entries: entries(entriesMax + 1)},
			nil,
		},
		"bytes": {
			&raft.AppendEntriesRequest{Entries: []*raft.Log{entry(AppendBytesMax-10, 0), entry(4, 6)}},
			&raft.AppendEntriesRequest{Entries: []*raft.Log{entry(AppendBytesMax-10, 0), entry(4, 7)}},
			func(frame []byte) {
				size := frame[5+binary.BigEndian.Uint32(frame[1:])-16:] // the size of the last extensions
				binary.BigEndian.PutUint32(size, binary.BigEndian.Uint32(size)+1)
			},
		},
		"head": {
			&raft.InstallSnapshotRequest{Configuration: make([]byte, headBytesMax-head)}, &raft.InstallSnapshotRequest{Configuration: make([]byte, headBytesMax-head+1)},
			func(frame []byte) { binary.BigEndian.PutUint32(frame[1:], headBytesMax+1) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			frame := encode(t, c.fits)
			if _, _, err := decode(frame); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			if err := newFrames(new(tape)).writeCall(c.large); !errors.Is(err, errTooLarge) {
				t.Errorf("the sender past the limit: %v", err)
			}
			if c.raise == nil {
				return
			}
			c.raise(frame)
			if _, _, err := decode(frame); !errors.Is(err, errTooLarge) {
				t.Errorf("the receiver past the limit: %v", err)
			}
		})
	}
	// A sender without a limit on the number of entries.
	h := fields{b: []byte{byte(callAppendEntries), 0, 0, 0, 0}}
	h.message(new(raft.AppendEntriesRequest))
	h.b = append(h.b, make([]byte, (entriesMax+1)*entryBytes)...)
	binary.BigEndian.PutUint32(h.b[1:], uint32(len(h.b)-5))
	if _, _, err := decode(h.b); !errors.Is(err, errTooLarge) {
		t.Errorf("%d entries: %v", entriesMax+1, err)
	}
}

// A sender that announces much and sends little costs little memory.
func TestMemoryGrowsWithWhatHasCome(t *testing.T) {
	large := encode(t, &raft.AppendEntriesRequest{Entries: []*raft.Log{{Data: make([]byte, AppendBytesMax)}}})
	install := encode(t, &raft.InstallSnapshotRequest{Configuration: make([]byte, headBytesMax/2)})
	for name, frame := range map[string][]byte{
		"an entry": large[:1000], "half an entry": large[:10<<20], "a head": install[:1000],
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := decode(frame)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(4*len(frame)+2*sharedBytesMax+readBuffer); got > most {
			t.Errorf("%s: %d bytes of memory for %d that came, want at most %d", name, got, len(frame), most)
		}
	}
}

// Entries that follow each other share buffers of at most sharedBytesMax.
func TestEntriesShareBuffers(t *testing.T) {
	frame := encode(t, appendCall(64, 20<<10+1)) // buffers of whole pages could lie side by side
	decoded := testing.AllocsPerRun(10, func() {
		if _, _, err := decode(frame); err != nil {
			t.Error(err)
		}
	})
	// 64 entries of 20 KiB are 6 buffers; the rest is the connection's and the call's.
	if decoded > 30 {
		t.Errorf("%.0f allocations for 64 entries, want at most 30", decoded)
	}
	got, _, err := decode(frame)
	if err != nil {
		t.Fatal(err)
	}
	entries := got.(*raft.AppendEntriesRequest).Entries
	shared := 1
	for i := 1; i < len(entries); i++ {
		a, b := entries[i-1].Data, entries[i].Data
		if reflect.ValueOf(a).Pointer()+uintptr(len(a)) != reflect.ValueOf(b).Pointer() {
			shared = 0
		}
		if shared++; shared*len(b) > sharedBytesMax {
			t.Fatalf("entry %d is in a buffer of more than %d bytes", i, sharedBytesMax)
		}
	}
}

// Raft sends one message to several nodes at once: under the race detector this test
// fails if encoding writes to it.
func TestEncodingOnlyReadsAMessage(t *testing.T) {
	for _, request := range []any{
		filled[raft.AppendEntriesRequest](1), filled[raft.RequestVoteRequest](1), filled[raft.RequestPreVoteRequest](1),
		filled[raft.InstallSnapshotRequest](1), filled[raft.TimeoutNowRequest](1),
	} {
		var frames [2][]byte
		var work sync.WaitGroup
		for i := range frames {
			work.Go(func() { frames[i] = encode(t, request) })
		}
		work.Wait()
		if !bytes.Equal(frames[0], frames[1]) {
			t.Errorf("a %T is encoded as %q and as %q", request, frames[0], frames[1])
		}
	}
	for _, response := range []any{
		filled[raft.AppendEntriesResponse](1), filled[raft.RequestVoteResponse](1), filled[raft.RequestPreVoteResponse](1),
		filled[raft.InstallSnapshotResponse](1), filled[raft.TimeoutNowResponse](1),
	} {
		var work sync.WaitGroup
		for range 2 {
			work.Go(func() {
				if err := newFrames(new(tape)).writeReply(raft.RPCResponse{Response: response}); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	}
}

// A frame that ends too early, or too late, or means nothing is an error.
func TestMalformedFramesAreRefused(t *testing.T) {
	whole := encode(t, appendCall(2, 100))
	for n := range whole {
		if _, _, err := decode(whole[:n]); err == nil || n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) || n == 0 && !errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	vote := encode(t, new(raft.RequestVoteRequest))
	longer := append(bytes.Clone(vote), 0)
	longer[4]++
	answer := bytes.Clone(vote)
	answer[len(answer)-1] = 2 // a bool
	snapshot := encode(t, &raft.InstallSnapshotRequest{Size: -1})
	for name, frame := range map[string][]byte{
		"a field too many": longer, "a bool of 2": answer, "an unknown kind": {9, 0, 0, 0, 0}, "no fields": {byte(callRequestVote), 0, 0, 0, 0},
		"no fields of entries": {byte(callAppendEntries), 0, 0, 0, 0}, "a snapshot of -1 bytes": snapshot, "HTTP": []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		if _, _, err := decode(frame); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, frame := range map[string]string{"no reply": "\x00\x00\x00\x00", "an error too long": "\x00\x00\x00\x05\x00\x00\x00\x02x", "the end": "\x00\x00"} {
		r := newFrames(&tape{Reader: strings.NewReader(frame)})
		if _, err := r.readReply(new(raft.RequestVoteResponse)); err == nil {
			t.Errorf("%s is taken for a reply", name)
		}
	}
}

// Heads that are too short for the checksums that they must end with are malformed.
func TestHeadsWithoutTheirChecksumsAreMalformed(t *testing.T) {
	sealed := func(kind callKind, head ...byte) []byte { // a frame with the checksum of its head
		f := fields{b: append([]byte{byte(kind), 0, 0, 0, 0}, head...)}
		(&frames{sums: true}).seal(&f, 1)
		return f.b
	}
	var entries []byte // an AppendEntries call's head without the checksum of its entries
	h := fields{}
	h.message(new(raft.AppendEntriesRequest))
	entries = append(entries, h.b...)
	for name, frame := range map[string][]byte{
		"a head of 2 bytes":         {byte(callTimeoutNow), 0, 0, 0, 2, 0, 0},
		"no checksum of entries":    sealed(callAppendEntries, entries...),
		"a part of one":             sealed(callAppendEntries, append(bytes.Clone(entries), 0, 0)...),
		"fields that end too early": sealed(callAppendEntries, entries[:len(entries)-1]...),
		"half of an entry's fields": sealed(callAppendEntries, append(bytes.Clone(entries), make([]byte, entryBytes/2+sumBytes)...)...),
	} {
		f := newFrames(&tape{Reader: bytes.NewReader(frame)})
		f.sums = true
		if got, _, err := f.readCall(); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Each encoding is what both ends of a connection use.
func TestAConnectionHasTheEncodingOfItsLayer(t *testing.T) {
	sizes := map[Encoding]int{}
	for _, encoding := range []Encoding{Msgpack, Frames, SummedFrames} {
		to := new(tape)
		if err := newLink(to, encoding, "").writeCall(new(raft.TimeoutNowRequest)); err != nil {
			t.Fatal(err)
		}
		sizes[encoding] = to.written.Len()
	}
	if sizes[SummedFrames] != sizes[Frames]+sumBytes || sizes[Msgpack] == sizes[Frames] {
		t.Errorf("a call has these bytes by encoding: %v", sizes)
	}
}

// Only a call that names a term and nothing else is a heartbeat: any other one goes through Raft's
// queue.
func TestWhatAHeartbeatIs(t *testing.T) {
	for name, c := range map[string]struct {
		request any
		want    bool
	}{
		"a term":          {&raft.AppendEntriesRequest{Term: 1}, true},
		"no term":         {&raft.AppendEntriesRequest{}, false},
		"a log before":    {&raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 1}, false},
		"a term before":   {&raft.AppendEntriesRequest{Term: 1, PrevLogTerm: 1}, false},
		"a commit index":  {&raft.AppendEntriesRequest{Term: 1, LeaderCommitIndex: 1}, false},
		"an entry":        {&raft.AppendEntriesRequest{Term: 1, Entries: []*raft.Log{{}}}, false},
		"another request": {&raft.RequestVoteRequest{Term: 1}, false},
	} {
		if got := isHeartbeat(c.request); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A connection on which nonsense comes is closed, and others go on.
func TestNonsenseClosesItsConnection(t *testing.T) {
	from, to := on(t, listen(t, Frames)), on(t, listen(t, Frames))
	answer(t, to, func(rpc raft.RPC) { rpc.Respond(new(raft.AppendEntriesResponse), nil) })
	c, _, err := listen(t, Frames).Dial(to.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("\x09nonsense")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("it was answered: %v", err)
	} else if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("the connection is open")
	}
	if err := from.AppendEntries("n2", to.LocalAddr(), appendCall(1, 10), new(raft.AppendEntriesResponse)); err != nil {
		t.Error(err)
	}
}

// FuzzCall decodes frames: what decodes encodes to the same frame.
func FuzzCall(f *testing.F) {
	f.Add(encode(f, appendCall(0, 0)))
	f.Add(encode(f, appendCall(3, 10)))
	f.Add(encode(f, filled[raft.AppendEntriesRequest](1)))
	f.Add(encode(f, filled[raft.RequestVoteRequest](1)))
	f.Add(encode(f, filled[raft.RequestPreVoteRequest](1)))
	f.Add(encode(f, filled[raft.InstallSnapshotRequest](1)))
	f.Add(encode(f, filled[raft.TimeoutNowRequest](1)))
	f.Fuzz(func(t *testing.T, frame []byte) {
		request, _, err := decode(frame)
		if err != nil {
			return
		}
		again := encode(t, request)
		if r, ok := request.(*raft.AppendEntriesRequest); ok && len(r.Entries) > 0 { // a time has more than one encoding
			twice, _, err := decode(again)
			if err != nil || !reflect.DeepEqual(twice, request) {
				t.Errorf("decodes as %+v, and then as %+v: %v", request, twice, err)
			}
			return
		}
		if !bytes.HasPrefix(frame, again) {
			t.Errorf("%q decodes as %q", frame, again)
		}
	})
}

// FuzzReply decodes replies.
func FuzzReply(f *testing.F) {
	for _, response := range []any{nil, filled[raft.AppendEntriesResponse](1), filled[raft.RequestVoteResponse](2)} {
		to := new(tape)
		if err := newFrames(to).writeReply(raft.RPCResponse{Response: response, Error: errors.New("refused")}); err != nil {
			f.Fatal(err)
		}
		f.Add(to.written.Bytes())
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, response := range []any{
			new(raft.AppendEntriesResponse), new(raft.RequestVoteResponse), new(raft.RequestPreVoteResponse), new(raft.InstallSnapshotResponse), new(raft.TimeoutNowResponse),
		} {
			_, err := newFrames(&tape{Reader: bytes.NewReader(frame)}).readReply(response)
			if err == nil && len(frame) < 9 {
				t.Errorf("%q is a reply", frame)
			}
		}
	})
}
