package redis_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"dormouse/agent"
	"dormouse/node/nodetest"
)

// clientOf returns a client of go-redis for a node.
func clientOf(t *testing.T, n *nodetest.Node, o goredis.Options) *goredis.Client {
	t.Helper()
	o.Addr = n.RedisAddr()
	o.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) { return n.DialRedis(ctx) }
	c := goredis.NewClient(&o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// must returns a function that passes a result on, or fails the test.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// go-redis works unchanged, over both versions of the protocol.
func TestGoRedis(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Redis: true})
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			ctx := t.Context()
			c := clientOf(t, n, goredis.Options{Protocol: protocol, ClientName: "test"})
			key := fmt.Sprintf("k%d:", protocol)
			text, number := must[string](t), must[int64](t)
			text(c.Set(ctx, key+"a", "1", time.Hour).Result())
			if _, err := c.SetArgs(ctx, key+"a", "2", goredis.SetArgs{Mode: "NX"}).Result(); !errors.Is(err, goredis.Nil) {
				t.Errorf("SET NX of a key that exists: %v", err)
			}
			if ttl := must[time.Duration](t)(c.PTTL(ctx, key+"a").Result()); ttl < 59*time.Minute || ttl > 61*time.Minute {
				t.Errorf("its ttl is %v", ttl)
			}
			binary := bytes.Repeat([]byte{0, '\r', '\n', 0xff}, 128<<10)
			text(c.Set(ctx, key+"b", binary, 0).Result())
			if got := must[[]byte](t)(c.Get(ctx, key+"b").Bytes()); !bytes.Equal(got, binary) {
				t.Errorf("%d bytes came back as %d", len(binary), len(got))
			}
			text(c.Set(ctx, key+"empty", "", 0).Result())
			if got, err := c.Get(ctx, key+"empty").Result(); err != nil || got != "" {
				t.Errorf("an empty value: %q, %v", got, err)
			}
			if _, err := c.Get(ctx, key+"none").Result(); !errors.Is(err, goredis.Nil) {
				t.Errorf("GET of no key: %v", err)
			}
			replies := must[[]goredis.Cmder](t)(c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
				p.Get(ctx, key+"a")
				p.Set(ctx, key+"a", "3", 0)
				p.Del(ctx, key+"b", key+"none")
				return nil
			}))
			if got := replies[0].(*goredis.StringCmd).Val(); got != "1" {
				t.Errorf("GET in a transaction: %q", got)
			}
			if got := replies[2].(*goredis.IntCmd).Val(); got != 1 {
				t.Errorf("DEL in a transaction: %d", got)
			}
			swap := goredis.NewScript(jidoScript) // EVALSHA, and EVAL if the server does not know it
			for i, each := range []struct {
				mode, previous, value string
				want                  int64
			}{{"missing", "", "x", 0}, {"value", "3", "", 1}, {"value", "", "4", 1}, {"value", "3", "5", 0}} {
				if got := number(swap.Run(ctx, c, []string{key + "a"}, each.mode, each.previous, each.value, "").Int64()); got != each.want {
					t.Errorf("swap %d: %d", i, got)
				}
			}
			if known := must[[]bool](t)(swap.Exists(ctx, c).Result()); !known[0] {
				t.Error("the server does not know the script that it has run")
			}
			var keys []string
			for it := c.Scan(ctx, 0, key+"*", 1).Iterator(); it.Next(ctx); {
				keys = append(keys, it.Val())
			}
			if got, want := strings.Join(keys, " "), key+"a "+key+"empty"; got != want {
				t.Errorf("SCAN: %s, want %s", got, want)
			}
		})
	}
}

// A value of Redis is a value of the other APIs.
func TestValuesAreThoseOfTheOtherAPIs(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Redis: true})
	c := over(t, must[net.Conn](t)(n.DialRedis(t.Context())))
	if got := c.do("SET jido:cp:x v"); got != "OK" {
		t.Fatal(got)
	}
	answers := must[agent.Answers](t)(n.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "jido:cp:x"}}}))
	if v, ok := answers.Answers[0].Found.(*agent.Value); !ok || string(v.Bytes) != "v" {
		t.Errorf("the value is %+v", answers.Answers[0])
	}
}

// The commands of Jido.Storage.Redis, with the keys and terms that OTP 26 encodes: a checkpoint, and a
// thread that an append reads and rewrites.
func TestJidoStorage(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Redis: true})
	c := over(t, must[net.Conn](t)(n.DialRedis(t.Context())))
	term := func(digits string) string { return string(must[[]byte](t)(hex.DecodeString(digits))) }
	checkpoint := term("837400000005770c6167656e745f6d6f64756c657712456c697869722e4d794170702e4167656e74770269646d00000006757365722d3177057374617465740000000177016e6101" +
		"77067468726561647400000002770269646d000000087468726561645f31770372657661017707" + "76657273696f6e6101")
	thread := term("83740000000277037265766100770a637265617465645f61746e06000068e5cf8b01")
	for _, turn := range []struct {
		args []string
		want string
	}{
		{[]string{"GET", "jido:cp:RCcfPwYE8jGnyqe2nssueRNGvdOpIEoz4RmRn8KzXlM"}, "nil"},
		{[]string{"SET", "jido:cp:RCcfPwYE8jGnyqe2nssueRNGvdOpIEoz4RmRn8KzXlM", checkpoint, "PX", "3600000"}, "OK"},
		{[]string{"GET", "jido:cp:RCcfPwYE8jGnyqe2nssueRNGvdOpIEoz4RmRn8KzXlM"}, strconv.Quote(checkpoint)},
		{[]string{"GET", "jido:th:thread_1"}, "nil"},
		{[]string{"SET", "jido:th:thread_1", thread}, "OK"},
		{[]string{"GET", "jido:th:thread_1"}, strconv.Quote(thread)},
		{[]string{"DEL", "jido:th:thread_1"}, "(1)"},
		{[]string{"GET", "jido:th:thread_1"}, "nil"},
	} {
		if got := c.send(turn.args...); got != turn.want {
			t.Errorf("%s %s: %s, want %s", turn.args[0], turn.args[1], got, turn.want)
		}
	}
}

// Of concurrent compare-and-sets of one value, exactly one applies each time. Of concurrent
// transactions that take the same key if it is absent, exactly one gets it.
func TestConcurrentWritersLoseNothing(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Redis: true})
	const writers, rounds = 4, 25
	var all sync.WaitGroup
	var taken atomic.Int64
	for range writers {
		all.Go(func() {
			c := over(t, must[net.Conn](t)(n.DialRedis(t.Context())))
			for i := range rounds {
				c.raw(encode("MULTI") + encode("EXISTS", "k") + encode("SET", fmt.Sprint("lock", i), "mine", "NX") + encode("EXEC"))
				replies := []string{c.reply(), c.reply(), c.reply(), c.reply()}
				if strings.HasSuffix(replies[3], " OK]") {
					taken.Add(1)
				} else if !strings.HasSuffix(replies[3], " nil]") {
					t.Errorf("a transaction: %q", replies)
				}
			}
			for done := 0; done < rounds; {
				mode, current := "value", strings.Trim(c.do("GET k"), `"`)
				if current == "nil" {
					mode, current = "missing", ""
				}
				if c.send("EVAL", jidoScript, "1", "k", mode, current, current+"x", "") == "(1)" {
					done++
				}
			}
		})
	}
	all.Wait()
	if got := taken.Load(); got != rounds {
		t.Errorf("%d keys were taken %d times", rounds, got)
	}
	c := over(t, must[net.Conn](t)(n.DialRedis(t.Context())))
	if got, want := c.do("GET k"), `"`+strings.Repeat("x", writers*rounds)+`"`; got != want {
		t.Errorf("the value has %d letters, want %d", len(got)-2, len(want)-2)
	}
}

// With tokens, the client authenticates and gets what its token may do.
func TestGoRedisWithATokenAndTLS(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Redis: true, Auth: true, TLSDir: t.TempDir()})
	for user, want := range map[string]string{"": "", "root": "", "bob": "WRONGPASS"} {
		c := clientOf(t, n, goredis.Options{Username: user, Password: n.RootToken(), MaxRetries: -1})
		err := c.Set(t.Context(), "k", "v", 0).Err()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("user %q: %v", user, err)
		}
	}
	if err := clientOf(t, n, goredis.Options{MaxRetries: -1}).Get(t.Context(), "k").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("without a token: %v", err)
	}
}

// redis-cli works unchanged, where it is installed.
func TestRedisCLI(t *testing.T) {
	program, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not installed")
	}
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Redis: true})
	host, port, _ := net.SplitHostPort(n.RedisAddr())
	for _, turn := range [][2]string{{"SET k v PX 60000", "OK"}, {"GET k", "v"}, {"TTL k", "60"}, {"--scan", "k"}, {"-3 PING", "PONG"}, {"DEL k", "1"}} {
		args := append([]string{"-h", host, "-p", port}, strings.Fields(turn[0])...)
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != turn[1] {
			t.Errorf("%s: %q, %v", turn[0], got, err)
		}
	}
}
