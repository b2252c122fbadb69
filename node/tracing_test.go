package node_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/node"
	"dormouse/placement"
)

// spans collects the ended spans of a cluster and its client.
type spans struct {
	mu   sync.Mutex
	kept []span
}

type span struct {
	node string
	tracetest.SpanStub
}

// on returns the exporter of one node.
func (s *spans) on(node string) sdktrace.SpanExporter { return exporter{s, node} }

type exporter struct {
	all  *spans
	node string
}

func (e exporter) ExportSpans(_ context.Context, list []sdktrace.ReadOnlySpan) error {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	for _, one := range tracetest.SpanStubsFromReadOnlySpans(list) {
		e.all.kept = append(e.all.kept, span{e.node, one})
	}
	return nil
}

func (exporter) Shutdown(context.Context) error { return nil }

// tree returns the spans of a trace as lines, each below its parent, children by their start.
func (s *spans) tree(id trace.TraceID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	var below func(parent trace.SpanID, depth int)
	below = func(parent trace.SpanID, depth int) {
		var children []span
		for _, one := range s.kept {
			if one.SpanContext.TraceID() == id && one.Parent.SpanID() == parent {
				children = append(children, one)
			}
		}
		slices.SortStableFunc(children, func(a, b span) int { return a.StartTime.Compare(b.StartTime) })
		for _, one := range children {
			lines = append(lines, fmt.Sprintf("%s%s: %s", strings.Repeat("  ", depth), one.node, one.Name))
			below(one.SpanContext.SpanID(), depth+1)
		}
	}
	below(trace.SpanID{}, 0)
	return strings.Join(lines, "\n")
}

// A sampled call of the client can be followed through every part that it passes, on all nodes.
func TestACallIsTracedThroughTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &spans{}
		w := newSimCluster(t, 0)
		w.lease, w.spans = 5*time.Second, all.on
		w.found(3)
		w.settled("n1", "n2", "n3")
		leader, follower := w.leader(), w.follower()
		program := sdktrace.NewTracerProvider(sdktrace.WithSyncer(all.on("program")))
		c := w.dial(t, true, follower.name)
		if _, err := c.PutManager(t.Context(), agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}, Durability: agent.DurabilityTurn}}); err != nil {
			t.Fatal(err)
		}

		traced := func(call func(context.Context) error) string {
			ctx, root := program.Tracer("test").Start(t.Context(), "program")
			if err := call(ctx); err != nil {
				t.Fatal(err)
			}
			root.End()
			time.Sleep(10 * time.Second) // the nodes send in batches
			got := all.tree(root.SpanContext().TraceID())
			return strings.NewReplacer(leader.name+":", "leader:", follower.name+":", "follower:").Replace(got)
		}
		got := traced(func(ctx context.Context) error {
			_, err := c.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
			return err
		})
		want := `program: program
  program: dormouse commit
    follower: commit
      follower: forward to the leader
        leader: commit
          leader: wait in the queue
          leader: replicate
          leader: apply`
		if got != want {
			t.Errorf("the spans of a commit:\n%s\nwant:\n%s", got, want)
		}

		got = traced(func(ctx context.Context) error {
			_, err := c.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
			return err
		})
		want = `program: program
  program: dormouse read
    follower: read
      follower: barrier`
		if got != want {
			t.Errorf("the spans of a read through a follower:\n%s\nwant:\n%s", got, want)
		}

		key := ""
		for i := 0; key == ""; i++ {
			one := fmt.Sprintf("key-%d", i)
			if follower.Machine().Partition(placement.Partition(agent.DefaultScope, "m", one)).Owner == leader.name {
				key = one
			}
		}
		got = traced(func(ctx context.Context) error {
			_, err := c.Instances().Signal(ctx, agent.InstanceRef{Manager: "m", Key: key}, agent.Signal{Type: "patch", Data: agent.JSON(`{"a":1}`)})
			return err
		})
		for _, line := range []string{"follower: signal", "leader: turn", "leader: commit", "leader: apply"} {
			if !strings.Contains(got, line) {
				t.Errorf("no %q among the spans of a signal:\n%s", line, got)
			}
		}
		if got := traced(func(ctx context.Context) error { // a trace that is not sampled stays so
			request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+follower.name+"/v1/values/h", strings.NewReader("v"))
			if err != nil {
				return err
			}
			request.Header.Set("traceparent", "00-"+trace.SpanContextFromContext(ctx).TraceID().String()+"-00f067aa0ba902b7-00")
			answer, err := w.browser(t).Do(request)
			if err != nil {
				return err
			}
			return answer.Body.Close()
		}); got != "program: program" {
			t.Errorf("the spans of a call that is not sampled:\n%s", got)
		}
	})
}

// browser returns an HTTP client in the cluster's network.
func (w *simCluster) browser(t *testing.T) *http.Client {
	t.Helper()
	host := w.links.Host("browser")
	transport := &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		return host.Dial(ctx, strings.TrimSuffix(addr, ":80")+":http")
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// A request over HTTP begins with the trace context that it brings.
func TestAnHTTPRequestContinuesItsTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &spans{}
		w := newSimCluster(t, 0)
		w.spans = all.on
		w.found(1)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://n1/v1/values/h", strings.NewReader("v"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		answer, err := w.browser(t).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusCreated {
			t.Fatal(answer.Status, err)
		}
		time.Sleep(10 * time.Second)
		all.mu.Lock()
		defer all.mu.Unlock()
		var names []string
		for _, one := range all.kept {
			if one.SpanContext.TraceID().String() == "4bf92f3577b34da6a3ce929d0e0e4736" {
				names = append(names, one.Name)
			}
		}
		slices.Sort(names)
		if got, want := strings.Join(names, ", "), "apply, commit, put-value, replicate, wait in the queue"; got != want {
			t.Errorf("spans %s, want %s", got, want)
		}
	})
}

// The span of a watch ends when the watch is open, and no span follows from what the watch does later.
func TestTheSpanOfAWatchEndsWhenItIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = "4bf92f3577b34da6a3ce929d0e0e4736"
		all := &spans{}
		w := newSimCluster(t, 0)
		w.spans = all.on
		w.found(3)
		c := w.dial(t, true, "n1")
		put := func() {
			t.Helper()
			if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "note", Payload: agent.JSON(`{}`)}}}}}); err != nil {
				t.Fatal(err)
			}
		}
		put()
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.follower().name+"/v1/threads/t/watch", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("traceparent", "00-"+id+"-00f067aa0ba902b7-01")
		answer, err := w.browser(t).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(answer.Body)
		await := func(text string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), text) {
					return
				}
			}
			t.Fatalf("no %q came: %v", text, lines.Err())
		}
		names := func() string {
			all.mu.Lock()
			defer all.mu.Unlock()
			var out []string
			for _, one := range all.kept {
				if one.SpanContext.TraceID().String() == id {
					out = append(out, one.Name)
					if took := one.EndTime.Sub(one.StartTime); took > time.Second {
						t.Errorf("the span %s took %v", one.Name, took)
					}
				}
			}
			slices.Sort(out)
			return strings.Join(slices.Compact(out), ", ")
		}
		await(`"seq":0`)
		time.Sleep(10 * time.Second) // the watch is open, and the spans are sent in batches
		const want = "barrier, read, watch-thread"
		if got := names(); got != want {
			t.Errorf("spans of a watch that is open: %s, want %s", got, want)
		}
		put()
		await(`"seq":1`)
		time.Sleep(time.Minute)
		cancel()
		_ = answer.Body.Close() // the request was cancelled
		time.Sleep(10 * time.Second)
		if got := names(); got != want {
			t.Errorf("spans after the watch: %s, want %s", got, want)
		}
	})
}

// A call that takes long is logged with the parts of its time; others are not.
func TestASlowCallIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		w := newSimCluster(t, 0)
		w.logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})
		w.slow = time.Nanosecond // virtual time passes only where something waits
		w.found(3)
		c := w.dial(t, true, w.follower().name)
		if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}); err != nil {
			t.Fatal(err)
		}
		if kept := node.SlowCalls(w.leader().Node); len(kept) == 0 || kept[0].Call != "commit" || kept[0].ReplicateUS == 0 {
			t.Errorf("the leader keeps %+v", kept)
		}
		for _, want := range []string{"slow call: call=commit scope=default ops=1 first=PutValue replicate=", "first=PutValue leader=", "took="} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("no %q in the log:\n%s", want, log.String())
			}
		}
	})
}

// lockedBuffer is a buffer that may be written concurrently.
type lockedBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}
