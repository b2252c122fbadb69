package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/server/rest"
)

// instant answers each call at once, with the same answer.
type instant struct{ state agent.JSON }

func (s instant) Commit(context.Context, agent.Commit) (agent.Result, error) {
	return agent.Result{Index: 7, Results: []agent.OpResult{&agent.CheckpointResult{Key: "k", Revision: 2}}}, nil
}

func (s instant) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{Index: 7, Node: "n1", Answers: []agent.Answer{{Found: &agent.Checkpoint{Key: "k", Revision: 2, State: s.state}}}}, nil
}

func (s instant) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] { return nil }

// BenchmarkRequest measures one request over a connection, with a client that does as little as possible.
func BenchmarkRequest(b *testing.B) {
	state := agent.JSON(`{"a":"` + strings.Repeat("x", 1000) + `"}`)
	handler, err := rest.New(instant{state}, newFake(), rest.Options{Node: "n1", ClusterID: func() string { return "c1" }, Applied: func() uint64 { return 7 }})
	if err != nil {
		b.Fatal(err)
	}
	least := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(state)))
		_, _ = w.Write(state)
	})
	headers := "Host: 127.0.0.1\r\nContent-Type: application/json\r\nDormouse-Scope: bench\r\n"
	body := `{"state":` + string(state) + `}`
	for _, c := range []struct {
		name    string
		handler http.Handler
		request string
	}{
		{"get", handler, "GET /v1/checkpoints/agent-00000001 HTTP/1.1\r\n" + headers + "\r\n"},
		{"put", handler, "PUT /v1/checkpoints/agent-00000001 HTTP/1.1\r\n" + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body},
		{"least/get", least, "GET /v1/checkpoints/agent-00000001 HTTP/1.1\r\n" + headers + "\r\n"},
		{"least/put", least, "PUT /v1/checkpoints/agent-00000001 HTTP/1.1\r\n" + headers + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body},
	} {
		b.Run(c.name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			server := rest.Server(c.handler)
			go func() { _ = server.Serve(l) }()
			defer server.Close() //nolint:errcheck // nothing depends on it
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close() //nolint:errcheck // nothing depends on it
			in, request := bufio.NewReader(conn), []byte(c.request)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				var length int
				for {
					line, err := in.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					if len(line) == 2 {
						break
					}
					if n, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
						_, _ = fmt.Sscan(n, &length)
					}
				}
				if _, err := in.Discard(length); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
