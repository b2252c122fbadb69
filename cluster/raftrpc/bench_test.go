package raftrpc

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// BenchmarkAppendEntries makes AppendEntries calls over loopback, one after the
// other, and waits for the replies. cpu-ns/op is the time of both sides' processors,
// which says more than ns/op on a busy machine.
func BenchmarkAppendEntries(b *testing.B) {
	pairs := []pair{{"raft", raftsOwn, raftsOwn}, {"msgpack", packed, packed}, {"frames", framed, framed}}
	for _, size := range []struct{ entries, bytes int }{{0, 0}, {1, 1 << 10}, {1, 20 << 10}, {64, 20 << 10}, {7, 8 << 20}} {
		for _, pair := range pairs {
			b.Run(fmt.Sprintf("%dx%dKiB/%s", size.entries, size.bytes>>10, pair.name), func(b *testing.B) {
				from, to := pair.from(b), pair.to(b)
				answer(b, to, func(rpc raft.RPC) { rpc.Respond(&raft.AppendEntriesResponse{Term: 5, LastLog: 7, Success: true}, nil) })
				call := appendCall(size.entries, size.bytes)
				b.SetBytes(int64(size.entries * size.bytes))
				b.ReportAllocs()
				before := cpu(b)
				for b.Loop() {
					var reply raft.AppendEntriesResponse
					if err := from.AppendEntries("n2", to.LocalAddr(), call, &reply); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// cpu returns the time that this process has used of all processors.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// appendCall returns a call as a leader makes it.
func appendCall(entries, size int) *raft.AppendEntriesRequest {
	r := &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n1"), Addr: []byte("n1.example.com:7602")},
		Term:      5, PrevLogEntry: 100, PrevLogTerm: 5, LeaderCommitIndex: 100,
	}
	for i := range entries {
		r.Entries = append(r.Entries, &raft.Log{
			Index: uint64(101 + i), Term: 5, Data: bytes.Repeat([]byte{byte(i)}, size), AppendedAt: time.Unix(1_800_000_000, 123_456_789).UTC(),
		})
	}
	return r
}
