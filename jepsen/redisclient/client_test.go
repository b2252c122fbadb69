package redisclient_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/jepsen/redisclient"
	"dormouse/server/redis"
)

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

func newClient(t *testing.T, addr string, protocol int) *redisclient.Client {
	t.Helper()
	c := redisclient.New(redisclient.Options{Addresses: func() []string { return []string{addr} }, Scope: "s", Protocol: protocol, Dial: dial})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheClientSpeaksTheProtocol(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		store := memstore.New()
		server, err := redis.New(store, redis.Options{Scope: "s"})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
		c := newClient(t, l.Addr().String(), protocol)
		a, b := []byte("a"), []byte("b\r\n\x00")
		zero := uint64(0)
		for _, step := range []struct {
			ops  []agent.Op
			code agent.Code
			want string // of the keys k, l and m
		}{
			{[]agent.Op{&agent.PutValue{Key: "k", Bytes: a}}, "", `"a" - -`},
			{[]agent.Op{&agent.PutValue{Key: "k", Bytes: b, IfRevision: &zero}}, agent.CodeRevisionMismatch, `"a" - -`},
			{[]agent.Op{&agent.PutValue{Key: "l", Bytes: b, IfRevision: &zero}}, "", `"a" "b\r\n\x00" -`},
			{[]agent.Op{&agent.PutValue{Key: "l", Bytes: a, IfBytes: &a}}, agent.CodeConflict, `"a" "b\r\n\x00" -`},
			{[]agent.Op{&agent.PutValue{Key: "l", Bytes: a, IfBytes: &b}}, "", `"a" "a" -`},
			{[]agent.Op{&agent.DeleteValue{Key: "k"}}, "", `- "a" -`},
			{[]agent.Op{&agent.PutValue{Key: "k", Bytes: b}, &agent.DeleteValue{Key: "l"}, &agent.PutValue{Key: "m", Bytes: a}}, "", `"b\r\n\x00" - "a"`},
			{[]agent.Op{&agent.PutValue{Key: "k", Bytes: a, IfRevision: &zero}, &agent.DeleteValue{Key: "m"}}, agent.CodeInvalid, `"b\r\n\x00" - "a"`},
		} {
			if _, err := c.Commit(t.Context(), agent.Commit{Scope: "s", Ops: step.ops}); agent.CodeOf(err) != step.code {
				t.Errorf("%+v: %v, want %q", step.ops, err, step.code)
			}
			for _, service := range []agent.Service{c, store} {
				answers, err := service.Read(t.Context(), agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}, &agent.GetValue{Key: "l"}, &agent.GetValue{Key: "m"}}})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, answer := range answers.Answers {
					text := "-"
					if v, is := answer.Found.(*agent.Value); is {
						text = fmt.Sprintf("%q", v.Bytes)
					}
					got = append(got, text)
				}
				if strings.Join(got, " ") != step.want {
					t.Errorf("protocol %d, %T: there is %v, want %s", protocol, service, got, step.want)
				}
			}
		}
	}
}

// replies serves one connection after the other. It answers the commands of a handshake, and the first other
// one with a reply; "cut" breaks the connection instead.
func replies(t *testing.T, reply string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn, reply)
		}
	}()
	return l.Addr().String()
}

func serve(conn net.Conn, reply string) {
	defer conn.Close() //nolint:errcheck // a test's
	from := bufio.NewReader(conn)
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		switch word := strings.ToUpper(strings.TrimSpace(line)); word {
		case "HELLO":
			_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
		case "CLIENT":
			_, _ = conn.Write([]byte("+OK\r\n"))
		case "SET", "MGET":
			if reply == "cut" {
				return
			}
			_, _ = conn.Write([]byte(reply))
		}
	}
}

func TestOutcomesAreAsTold(t *testing.T) {
	for _, c := range []struct {
		reply       string
		write, read agent.Code
	}{
		{"+OK\r\n", "", agent.CodeUnknown},
		{"-TRYAGAIN unavailable: no leader\r\n", agent.CodeUnavailable, agent.CodeUnavailable},
		{"-ERR unknown: it may still apply\r\n", agent.CodeUnknown, agent.CodeUnavailable},
		{"-ERR too_large: 5 MiB\r\n", agent.CodeTooLarge, agent.CodeTooLarge},
		{"-NOAUTH unauthenticated: none\r\n", agent.CodeUnauthenticated, agent.CodeUnauthenticated},
		{"-NOPERM forbidden: no\r\n", agent.CodeForbidden, agent.CodeForbidden},
		{"-ERR wrong number of arguments for 'set' command\r\n", agent.CodeInvalid, agent.CodeInvalid},
		{"cut", agent.CodeUnknown, agent.CodeUnavailable},
	} {
		client := newClient(t, replies(t, c.reply), 2)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := client.Commit(ctx, agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
		if agent.CodeOf(err) != c.write {
			t.Errorf("%q to a write is %v, want %q", c.reply, err, c.write)
		}
		if c.write != "" {
			_, err = client.Read(ctx, agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
			if agent.CodeOf(err) != c.read {
				t.Errorf("%q to a read is %v, want %q", c.reply, err, c.read)
			}
		}
		cancel()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	_ = l.Close()
	_, err = newClient(t, gone, 2).Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
	if agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("without a server: %v", err)
	}
}
