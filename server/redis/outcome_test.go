package redis_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/internal/budget"
	"dormouse/server/redis"
)

// flaky is a service whose commits first fail with errors, in order, applied or not.
type flaky struct {
	agent.Service

	mu     sync.Mutex
	errors []error // guarded by mu
}

func (f *flaky) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errors) == 0 {
		return f.Service.Commit(ctx, c)
	}
	err := f.errors[0]
	f.errors = f.errors[1:]
	if agent.CodeOf(err) == agent.CodeUnknown {
		_, _ = f.Service.Commit(ctx, c) // it applies, and the answer is lost
	}
	return agent.Result{}, err
}

// A commit whose outcome is unknown is repeated under its request id, so that it applies once and the
// client learns the outcome. An error of a later attempt does not say that the first was not applied.
func TestAnUnknownOutcomeIsFoundOut(t *testing.T) { // V-4
	unknown, unavailable := agent.Errorf(agent.CodeUnknown, "lost"), agent.Errorf(agent.CodeUnavailable, "no leader")
	service := &flaky{Service: memstore.New()}
	c := dial(t, start(t, service, redis.Options{}))
	for i, each := range []struct {
		errors []error
		args   []string
		want   string
	}{
		{[]error{unknown, unavailable, unknown}, []string{"SET", "k", "1", "NX"}, "OK"},
		{[]error{unknown}, []string{"DEL", "k"}, "(1)"},
		{[]error{unknown}, []string{"EVAL", jidoScript, "1", "k", "missing", "", "1", ""}, "(1)"},
		{[]error{unknown}, []string{"EVAL", jidoScript, "1", "k", "missing", "", "2", ""}, "(0)"},
		{[]error{unavailable}, []string{"EVAL", jidoScript, "1", "k", "value", "1", "2", ""}, "(0)"},
		{[]error{agent.Errorf(agent.CodeForbidden, "no")}, []string{"EVAL", jidoScript, "1", "k", "value", "1", "2", ""}, "-NOPERM forbidden: no"},
		{[]error{agent.Errorf(agent.CodeTooLarge, "a\r\n+OK")}, []string{"SET", "k", "3"}, "-ERR too_large: a  +OK"},
		{[]error{unavailable}, []string{"SET", "k", "3"}, "-TRYAGAIN unavailable: no leader"},
		{nil, []string{"GET", "k"}, `"1"`},
	} {
		service.mu.Lock()
		service.errors = each.errors
		service.mu.Unlock()
		if got := c.send(each.args...); !strings.HasPrefix(got, each.want) {
			t.Errorf("%d: %s, want %s", i, got, each.want)
		}
	}
}

// A key that is sealed refuses every write for a time, so a transaction on it is refused at once: to send it again, as
// TRYAGAIN asks, is of no use.
func TestATransactionOnASealedKeyIsRefusedAtOnce(t *testing.T) {
	service := memstore.New()
	seal := &agent.DeleteValue{Key: "k", Seal: time.Hour}
	if _, err := service.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}, seal}}); err != nil {
		t.Fatal(err)
	}
	c := dial(t, start(t, service, redis.Options{}))
	began := time.Now()
	for _, line := range []string{"MULTI", "GET k", "SET k v"} {
		c.do(line)
	}
	if got := c.do("EXEC"); !strings.HasPrefix(got, "-ERR deleted") {
		t.Errorf("EXEC: %s", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := c.do("SET k v"); !strings.HasPrefix(got, "-ERR deleted") {
		t.Errorf("SET: %s", got)
	}
}

// between is a service that makes a change after the first read.
type between struct {
	agent.Service
	change func()
}

func (b *between) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := b.Service.Read(ctx, r)
	if change := b.change; change != nil {
		b.change = nil
		change()
	}
	return answers, err
}

// A transaction is made as if at one instant: if another client changes a key between its read and its commit, also one
// that it only reads, or one whose revision is the same again, then it is made again.
func TestATransactionSeesNoKeyThatChangesMeanwhile(t *testing.T) {
	put := func(key, value string) agent.Op { return &agent.PutValue{Key: key, Bytes: []byte(value)} }
	for name, each := range map[string]struct {
		change []agent.Op
		want   string
	}{
		"a key that is read changes":        {[]agent.Op{put("a", "9")}, `["9" "1" OK (1)]`},
		"a key that is written changes":     {[]agent.Op{put("b", "9")}, `["1" "9" OK (1)]`},
		"a key is deleted":                  {[]agent.Op{&agent.DeleteValue{Key: "a"}}, `[nil "1" OK (1)]`},
		"a key is created":                  {[]agent.Op{put("c", "9")}, `["1" "1" OK (2)]`},
		"a key that is read is new":         {[]agent.Op{&agent.DeleteValue{Key: "a"}, put("a", "9")}, `["9" "1" OK (1)]`},
		"a key that is written is new":      {[]agent.Op{&agent.DeleteValue{Key: "b"}, put("b", "9")}, `["1" "9" OK (1)]`},
		"a key of another name has changed": {[]agent.Op{put("z", "9")}, `["1" "1" OK (1)]`},
	} {
		store := memstore.New()
		if _, err := store.Commit(t.Context(), agent.Commit{Ops: []agent.Op{put("a", "1"), put("b", "1")}}); err != nil {
			t.Fatal(err)
		}
		service := &between{Service: store}
		c := dial(t, start(t, service, redis.Options{}))
		for _, line := range []string{"MULTI", "GET a", "GET b", "SET b 2", "EXISTS b c"} {
			c.do(line)
		}
		service.change = func() {
			if _, err := store.Commit(t.Context(), agent.Commit{Ops: each.change}); err != nil {
				t.Error(err)
			}
		}
		if got := c.do("EXEC"); got != each.want {
			t.Errorf("%s: %s, want %s", name, got, each.want)
		}
	}
}

// A connection gives back what it counts: of a transaction that is not made, and of values that were read twice.
func TestAConnectionGivesItsRoomBack(t *testing.T) {
	store, bytes := memstore.New(), budget.New(8<<20)
	put := func(value string) {
		if _, err := store.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "a", Bytes: []byte(value)}}}); err != nil {
			t.Error(err)
		}
	}
	put(strings.Repeat("x", 1<<20))
	service := &between{Service: store, change: func() { put(strings.Repeat("y", 1<<20)) }}
	server, err := redis.New(service, redis.Options{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	there, here := net.Pipe()
	l := &oneConn{conn: there, ended: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	c := over(t, here)
	for _, line := range []string{"MULTI", "GET a", "SET b 1"} {
		c.do(line)
	}
	if got := c.do("EXEC"); !strings.HasPrefix(got, `["yyy`) {
		t.Errorf("EXEC: %.20s", got)
	}
	c.do("MULTI")
	c.send("SET", "k", strings.Repeat("z", 1<<20))
	if bytes.Used() < 1<<20 {
		t.Error("a queued command is not counted")
	}
	_ = here.Close()
	if err := errors.Join(server.Shutdown(t.Context()), <-served); err != nil {
		t.Error(err)
	}
	if used := bytes.Used(); used != 0 {
		t.Errorf("%d bytes are in use after the end", used)
	}
}

// oneConn is a listener that accepts one connection.
type oneConn struct {
	conn  net.Conn
	ended chan struct{}
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.ended
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
