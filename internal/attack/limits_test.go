package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/node"
	apipb "dormouse/proto/api"
)

// growthMax bounds how much memory an attack may cost.
const growthMax = 512 << 20

// memory returns how much memory Go uses for this process.
func memory() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()) //nolint:gosec // below 2^63
}

// growth returns by how much the memory of this process grew at most, from now until the returned
// function is called.
func growth() func() int64 {
	debug.FreeOSMemory()
	before, most := memory(), int64(0)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			most = max(most, memory()-before)
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() int64 {
		close(done)
		watching.Wait()
		return most
	}
}

// from returns a dialer whose connections come from an address of loopback.
func from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
}

// rpcFrom connects to a node's gRPC server from an address.
func rpcFrom(t *testing.T, n *node.Node, address string) *rpc.ClientConn {
	t.Helper()
	_, addr := n.Addrs()
	conn, err := rpc.NewClient("passthrough:///"+addr, rpc.WithTransportCredentials(insecure.NewCredentials()),
		rpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
			return from(address).DialContext(ctx, "tcp", to)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// httpFrom returns an HTTP client whose connections come from an address.
func httpFrom(address string) *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: from(address).DialContext, DisableKeepAlives: true}}
}

// page fills the thread "big", of which a page has 16 MiB.
func page(t *testing.T, n *node.Node) {
	t.Helper()
	payload := agent.JSON(`{"x":"` + strings.Repeat("x", 1<<20-64) + `"}`)
	for range 6 {
		drafts := []agent.Draft{{Kind: "k", Payload: payload}, {Kind: "k", Payload: payload}, {Kind: "k", Payload: payload}}
		if _, err := n.Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "big", Entries: drafts}}}); err != nil {
			t.Fatal(err)
		}
	}
}

func readPage() *apipb.ReadRequest {
	return &apipb.ReadRequest{Reads: []*apipb.Read{{Read: &apipb.Read_LoadEntries{LoadEntries: &apipb.LoadEntries{Thread: "big"}}}}}
}

// othersAreServed fails the test unless a client of another address can write and read.
func othersAreServed(t *testing.T, n *node.Node) {
	t.Helper()
	addr, _ := n.Addrs()
	r, err := http.NewRequestWithContext(t.Context(), "PUT", "http://"+addr+"/v1/values/other", strings.NewReader(strings.Repeat("v", 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/plain")
	answer, err := httpFrom("127.0.0.77").Do(r)
	if err != nil {
		t.Errorf("a client of another address is not served: %v", err)
		return
	}
	_ = answer.Body.Close() // only the status is needed
	if answer.StatusCode >= 300 {
		t.Errorf("a write of another address is answered %s", answer.Status)
	}
	read, err := apipb.NewStoreClient(rpcFrom(t, n, "127.0.0.77")).Read(t.Context(),
		&apipb.ReadRequest{Reads: []*apipb.Read{{Read: &apipb.Read_GetValue{GetValue: &apipb.GetValue{Key: "other"}}}}})
	if err != nil || len(read.GetAnswers()) != 1 {
		t.Errorf("a read of another address fails: %v", err)
	}
}

// A client that asks for large answers and reads none of them cannot fill the node's memory.
func TestUnreadAnswersUseBoundedMemory(t *testing.T) {
	n := startNode(t, nil)
	page(t, n)
	for _, attack := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"unary calls", func(t *testing.T) {
			t.Helper()
			conn := rpcFrom(t, n, "127.0.0.1")
			for range 100 {
				stream, err := conn.NewStream(t.Context(), &rpc.StreamDesc{}, apipb.Store_Read_FullMethodName)
				if err != nil {
					t.Fatal(err)
				}
				if err := stream.SendMsg(readPage()); err != nil {
					t.Fatal(err)
				}
				_ = stream.CloseSend() // the server may have answered
			}
		}},
		{"streams", func(t *testing.T) {
			t.Helper()
			for range 3 {
				stream, err := apipb.NewStoreClient(rpcFrom(t, n, "127.0.0.1")).Exchange(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i := range 64 {
					call := &apipb.Call{Id: uint64(i), Call: &apipb.Call_Read{Read: readPage()}} //nolint:gosec // small
					if err := stream.Send(&apipb.Calls{Calls: []*apipb.Call{call}}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}},
		{"many reads in a call", func(t *testing.T) {
			t.Helper()
			conn := rpcFrom(t, n, "127.0.0.1")
			many := readPage()
			for len(many.Reads) < agent.ReadsMax {
				many.Reads = append(many.Reads, many.Reads[0])
			}
			for range 8 {
				stream, err := conn.NewStream(t.Context(), &rpc.StreamDesc{}, apipb.Store_Read_FullMethodName)
				if err != nil {
					t.Fatal(err)
				}
				if err := stream.SendMsg(many); err != nil {
					t.Fatal(err)
				}
				_ = stream.CloseSend() // the server may have answered
			}
		}},
		{"HTTP", func(t *testing.T) {
			t.Helper()
			addr, _ := n.Addrs()
			for range 80 {
				c, err := from("127.0.0.1").DialContext(t.Context(), "tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				if _, err := io.WriteString(c, "GET /v1/threads/big/entries HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(attack.name, func(t *testing.T) {
			grown := growth()
			attack.run(t)
			time.Sleep(3 * time.Second) // until the node has answered what it answers
			most := grown()
			t.Logf("memory grew by %d MiB", most>>20)
			if most > growthMax {
				t.Errorf("memory grew by %d MiB, want at most %d", most>>20, growthMax>>20)
			}
			othersAreServed(t, n)
		})
	}
}

// What was in flight for a client that has gone makes room for others.
func TestRoomComesBackWithTheConnection(t *testing.T) {
	n := startNode(t, nil)
	page(t, n)
	conn := rpcFrom(t, n, "127.0.0.1")
	for range 40 {
		stream, err := conn.NewStream(t.Context(), &rpc.StreamDesc{}, apipb.Store_Read_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.SendMsg(readPage()); err != nil {
			t.Fatal(err)
		}
		_ = stream.CloseSend() // the server may have answered
	}
	time.Sleep(2 * time.Second)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	again := apipb.NewStoreClient(rpcFrom(t, n, "127.0.0.1"))
	for i := range 20 { // 320 MiB: more than the share of an address
		var err error
		for range 50 {
			if _, err = again.Read(t.Context(), readPage(), rpc.MaxCallRecvMsgSize(64<<20)); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
	}
}

// Connections that announce large bodies, and send a byte of each, block no writes.
func TestAnnouncedBodiesTakeNoRoom(t *testing.T) {
	n := startNode(t, nil)
	addr, _ := n.Addrs()
	var slow []net.Conn
	for i := range 60 {
		c, err := from("127.0.0.1").DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "POST /v1/commits HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", 12_000_000+i)
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	time.Sleep(500 * time.Millisecond)
	for range 10 {
		if status := send(t, "PUT", "http://"+addr+"/v1/values/mine", strings.Repeat("v", 100<<10), "Content-Type: text/plain"); status >= 300 {
			t.Fatalf("a write of the same address is answered %d", status)
		}
	}
	othersAreServed(t, n)
	// The minimum rate would let them send for three minutes; without any byte they end in seconds.
	if err := slow[0].SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(slow[0]), nil)
	if err != nil {
		t.Fatalf("a body that does not arrive is not refused: %v", err)
	}
	_ = answer.Body.Close() // only the status is needed
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that does not arrive is answered %s", answer.Status)
	}
}

// One address cannot use all watches of the HTTP server, and operators' calls get through even if
// it uses all that it may.
func TestWatchesOfOneClientStarveNoOther(t *testing.T) {
	n := startNode(t, nil)
	addr, _ := n.Addrs()
	if status := send(t, "POST", "http://"+addr+"/v1/threads/t/entries", `{"entries":[]}`, "Content-Type: application/json"); status >= 300 {
		t.Fatalf("the thread is answered %d", status)
	}
	const request = "GET /v1/threads/t/watch HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for range 4200 { // the server has 4,096 at most
		c, err := from("127.0.0.1").DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, request) // the node may have closed it
	}
	time.Sleep(time.Second)
	othersAreServed(t, n)
	for _, path := range []string{"/v1/threads/t/watch", "/v1/cluster", "/v1/cluster/backup"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := httpFrom("127.0.0.78").Do(r)
		if err != nil {
			t.Errorf("GET %s of another address: %v", path, err)
			continue
		}
		_ = answer.Body.Close() // only the status is needed
		if answer.StatusCode != http.StatusOK {
			t.Errorf("GET %s of another address: %s", path, answer.Status)
		}
	}
}

// raw is a codec that sends bytes as they are.
type raw struct{}

func (raw) Name() string                  { return "proto" }
func (raw) Marshal(v any) ([]byte, error) { return v.([]byte), nil }
func (raw) Unmarshal([]byte, any) error   { return nil }

// A message that is no protobuf is the client's fault: it is no internal error.
func TestMalformedProtobufIsInvalid(t *testing.T) {
	n := startNode(t, nil)
	conn := rpcFrom(t, n, "127.0.0.1")
	for _, method := range []string{apipb.Store_Commit_FullMethodName, apipb.Store_Read_FullMethodName, apipb.Cluster_Status_FullMethodName} {
		err := conn.Invoke(t.Context(), method, []byte{0x0a, 0xff}, []byte{}, rpc.ForceCodec(raw{}))
		if code := status.Code(err); code != codes.InvalidArgument {
			t.Errorf("%s: %v, want InvalidArgument", method, err)
		}
	}
	for _, method := range []string{apipb.Store_Exchange_FullMethodName, apipb.Store_Watch_FullMethodName} {
		stream, err := conn.NewStream(t.Context(), &rpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, rpc.ForceCodec(raw{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.SendMsg([]byte{0x0a, 0xff}); err != nil {
			t.Fatal(err)
		}
		_ = stream.CloseSend() // the server may have answered
		if err := stream.RecvMsg([]byte{}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, want InvalidArgument", method, err)
		}
	}
}

// An id cannot look like another: it has no characters that are not shown, or that change the
// order of others.
func TestIDsShowWhatTheyAre(t *testing.T) {
	n := startNode(t, nil)
	addr, _ := n.Addrs()
	const one = `{"entries":[{"kind":"k","payload":{}}]}`
	for _, id := range []string{"a%0Ab", "a%1B%5B2J", "a%7F", "a%C2%85", "a%E2%80%AEb", "a%E2%81%A6b", "%D8%9C"} {
		if status := send(t, "POST", "http://"+addr+"/v1/threads/"+id+"/entries", one, "Content-Type: application/json"); status != http.StatusBadRequest {
			t.Errorf("the id %s: %d, want 400", id, status)
		}
	}
	for _, id := range []string{"a%20b", "%D7%A9%D7%9C%D7%95%D7%9D", "%E2%80%8D", "%F0%9F%90%BF"} {
		if status := send(t, "POST", "http://"+addr+"/v1/threads/"+id+"/entries", one, "Content-Type: application/json"); status != http.StatusCreated {
			t.Errorf("the id %s: %d, want 201", id, status)
		}
	}
}
