package redis_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/internal/budget"
	"dormouse/server/redis"
)

// Requests that are not RESP end the connection, and cost no memory.
func TestMalformedRequestsEndTheConnection(t *testing.T) {
	addr := start(t, memstore.New(), redis.Options{})
	for request, want := range map[string]string{
		"*1\r\n$9223372036854775806\r\n":      "-ERR Protocol error: invalid bulk length",
		"*1\r\n$67108865\r\n":                 "-ERR Protocol error: invalid bulk length",
		"*1\r\n$-1\r\n":                       "-ERR Protocol error: invalid bulk length",
		"*9223372036854775806\r\n":            "-ERR Protocol error: invalid multibulk length",
		"*1026\r\n":                           "-ERR Protocol error: invalid multibulk length",
		"*x\r\n":                              "-ERR Protocol error: invalid multibulk length",
		"*1\r\n+PING\r\n":                     "-ERR Protocol error: expected '$'",
		"*1\r\n$4\r\nPINGPING\r\n":            "-ERR Protocol error: an argument is longer than its length says",
		strings.Repeat("x", 5000) + "\r\n":    "-ERR Protocol error: too big inline request",
		"POST / HTTP/1.1\r\nHost: x\r\n\r\n":  "-ERR Protocol error: this port speaks the Redis protocol",
		"\r\n*0\r\n*-1\r\nOPTIONS * HTTP/1.1": "",
	} {
		c := dial(t, addr)
		if want == "" {
			c.raw(request + "\r\n")
			want = "-ERR Protocol error: this port speaks the Redis protocol"
		} else {
			c.raw(request)
		}
		if got := c.reply(); got != want {
			t.Errorf("%.40q: %s, want %s", request, got, want)
		}
		c.closed()
	}
}

func TestLimitsHoldAtTheirEdge(t *testing.T) { // values are binary, up to 4 MiB
	pool := budget.New(64 << 20)
	c := dial(t, start(t, memstore.New(), redis.Options{Bytes: pool}))
	most := strings.Repeat("\x00\r\n\xff", agent.ValueBytesMax/4)
	if got := c.send("SET", "k", most); got != "OK" {
		t.Fatal(got)
	}
	if got := c.send("GET", "k"); got != fmt.Sprintf("%q", most) {
		t.Errorf("GET has %d bytes", len(got))
	}
	for name, each := range map[string]struct {
		args []string
		want string
	}{
		"a value":      {[]string{"SET", "k", most + "x"}, "-ERR too_large: value has 4194305, more than value_bytes_max = 4194304"},
		"a command":    {[]string{"MGET", most, most, strings.Repeat("x", 64<<10)}, "-ERR too_large: command has"},
		"its name":     {[]string{strings.Repeat("x", 9<<20)}, "-ERR too_large: command has"},
		"a key":        {[]string{"GET", strings.Repeat("k", 513)}, "-ERR too_large: key has 513"},
		"keys of MGET": {append([]string{"MGET"}, strings.Fields(strings.Repeat("k ", 129))...), "-ERR too_large: keys has 129"},
		"keys of DEL":  {append([]string{"DEL"}, strings.Fields(strings.Repeat("x ", 1024))...), "(0)"},
		"a pattern":    {[]string{"SCAN", "0", "MATCH", strings.Repeat("k", 513)}, "-ERR too_large: pattern has 513"},
		"a name":       {[]string{"CLIENT", "SETNAME", strings.Repeat("k", 65)}, "-ERR too_large: name has 65"},
	} {
		if got := c.send(each.args...); !strings.HasPrefix(got, each.want) {
			t.Errorf("%s: %.80s, want %s", name, got, each.want)
		}
	}
	if got := c.do("MULTI"); got != "OK" {
		t.Fatal(got)
	}
	for i := range agent.CommitOpsMax + 1 {
		got, want := c.do("DEL k"), "QUEUED"
		if i == agent.CommitOpsMax {
			want = "-ERR too_large: transaction has 1025"
		}
		if !strings.HasPrefix(got, want) {
			t.Fatalf("command %d of a transaction: %s", i, got)
		}
	}
	if got := c.do("EXEC"); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC: %s", got)
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes still count as in flight", pool.Used())
	}
}

// A command that finds no room is read, dropped and refused; the next one is made.
func TestWithoutRoomACommandIsRefused(t *testing.T) {
	pool := budget.New(8 << 20)
	pool.Force("another", 8<<20)
	c := dial(t, start(t, memstore.New(), redis.Options{Bytes: pool}))
	if got := c.send("SET", "k", strings.Repeat("v", 1<<20)); !strings.HasPrefix(got, "-TRYAGAIN overloaded") {
		t.Errorf("a large SET: %.80s", got)
	}
	if got := c.do("SET k v"); got != "OK" {
		t.Errorf("a small SET: %s", got)
	}
	pool.Give("another", 8<<20)
	if got := c.send("SET", "k", strings.Repeat("v", 1<<20)); got != "OK" {
		t.Errorf("a large SET with room: %.80s", got)
	}
	pool.Force("another", 8<<20)
	if got := c.do("GET k"); !strings.HasPrefix(got, "-TRYAGAIN overloaded") {
		t.Errorf("a large GET: %.80s", got)
	}
	for command, want := range map[string]string{ // these read no bytes
		"EXISTS k k kk": "(2)", "EXISTS kk": "(0)", "TTL k": "(-1)", "PTTL k": "(-1)", "TTL kk": "(-2)",
	} {
		if got := c.do(command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	pool.Give("another", 8<<20)
	if got := c.do("SET kkk v PX 60000"); got != "OK" {
		t.Error(got)
	}
	for command, want := range map[string]string{"EXISTS kk": "(0)", "TTL kk": "(-2)", "TTL kkk": "(60)", "EXISTS k kkk": "(2)"} {
		if got := c.do(command); got != want {
			t.Errorf("beside a longer key, %s: %s, want %s", command, got, want)
		}
	}
}

// store is an access.Store with one token.
type tokenStore struct {
	token agent.Token
	hash  agent.TokenHash
}

func (s tokenStore) Token(hash agent.TokenHash) (agent.Token, bool, error) {
	return s.token, hash == s.hash, nil
}
func (tokenStore) Barrier(context.Context) error { return nil }

// tokens are the tokens of a guard.
type tokens struct{ live bool }

func (t *tokens) Live(string) bool    { return t.live }
func (*tokens) LastUsed(string) int64 { return 0 }

func TestACallerNeedsATokenAndItsRights(t *testing.T) {
	secret := access.NewSecret()
	hash := agent.HashToken(secret)
	reader := agent.Token{ID: "tok_1", Principal: "ann", Grants: []agent.Grant{{Scopes: []string{"default"}, Verbs: []agent.Verb{"read"}}}}
	state := &tokens{live: true}
	store := memstore.New()
	auth := access.NewAuthenticator(access.Options{Store: tokenStore{reader, hash}})
	audit := &auditor{denied: map[string]int{}}
	addr := start(t, access.NewGuard(store, state), redis.Options{Auth: auth, Audit: audit})
	c := dial(t, addr)
	for _, turn := range [][2]string{
		{"GET k", "-NOAUTH"},
		{"NOTHING", "-NOAUTH"},
		{"MULTI", "-NOAUTH"},
		{"HELLO 3", "-NOAUTH"},
		{"AUTH " + access.NewSecret(), "-WRONGPASS"},
		{"AUTH secret", "-WRONGPASS"},
		{"AUTH bob " + secret, "-WRONGPASS the token does not belong"},
		{"PING", "-NOAUTH"},
		{"AUTH ann " + secret, "OK"},
		{"GET k", "nil"},
		{"SET k v", `-NOPERM forbidden: principal "ann" lacks the verb write`},
		{"RESET", "RESET"},
		{"GET k", "-NOAUTH"},
		{"HELLO 3 AUTH default " + secret + " SETNAME x", "{"},
		{"GET k", "null"},
	} {
		if got := c.do(turn[0]); !strings.HasPrefix(got, turn[1]) {
			t.Errorf("%.20s: %s, want %s", turn[0], got, turn[1])
		}
	}
	audit.mu.Lock()
	if got := audit.denied["redis/AUTH"]; got != 3 {
		t.Errorf("%d refusals of AUTH are recorded: %v", got, audit.denied)
	}
	audit.mu.Unlock()
	state.live = false
	if got := c.do("GET k"); !strings.HasPrefix(got, "-NOAUTH") {
		t.Errorf("with a revoked token: %s", got)
	}
	for _, request := range []string{"*11\r\n", "*1\r\n$16385\r\n", "*2\r\n$8\r\n12345678\r\n$16384\r\n"} {
		stranger := dial(t, addr)
		stranger.raw(request)
		if got := stranger.reply(); !strings.HasPrefix(got, "-ERR Protocol error") {
			t.Errorf("%q before AUTH: %s", request, got)
		}
		stranger.closed()
	}
}

// A server that stops closes connections that wait, and the replies of a pipeline are not lost.
func TestShutdownEndsConnections(t *testing.T) {
	s, err := redis.New(memstore.New(), redis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	idle, halfway := dial(t, l.Addr().String()), dial(t, l.Addr().String())
	if got := idle.do("PING"); got != "PONG" {
		t.Error(got)
	}
	halfway.raw(encode("PING") + "*1\r\n$4\r\nPI")
	if got := halfway.reply(); got != "PONG" {
		t.Error(got)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	idle.closed()
	halfway.closed()
	late, err := redis.New(memstore.New(), redis.Options{Scope: "\x00"})
	if err == nil {
		t.Errorf("a server of an invalid scope: %v", late)
	}
}
