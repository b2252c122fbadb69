package client_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// echo answers all calls at once.
type echo struct{ agent.Submitter }

func (echo) Submit(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
	done(agent.Result{Index: 1, Results: []agent.OpResult{&agent.ValueResult{Revision: 1}}}, nil)
}

func (echo) Read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	answers := agent.Answers{Index: 1}
	for range r.Reads { // the server batches the reads of several callers
		answers.Answers = append(answers.Answers, agent.Answer{Found: &agent.Value{Key: "k", Bytes: make([]byte, 1024)}})
	}
	return answers, nil
}

// BenchmarkExchange measures the cost of the protocol: client and server share the
// process and its cores.
func BenchmarkExchange(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpcfront.New(echo{}, nil, grpcfront.Options{})
	go server.Serve(l) //nolint:errcheck // ends with the test
	c, err := client.Dial(client.Options{Endpoints: []string{l.Addr().String()}, Fixed: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Close()
		_ = server.Shutdown(context.Background())
	})
	put := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: make([]byte, 1024)}}}
	get := agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
	for _, callers := range []int{1, 64, 256} {
		for name, call := range map[string]func(context.Context) error{
			"commit": func(ctx context.Context) error { _, err := c.Commit(ctx, put); return err },
			"read":   func(ctx context.Context) error { _, err := c.Read(ctx, get); return err },
		} {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) {
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if err := call(b.Context()); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
