package redis_test

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/server/redis"
)

const jidoScript = `  local current = redis.call('GET', KEYS[1])
  if ARGV[1] == 'missing' then
    if current then return 0 end
  elseif current ~= ARGV[2] then
    return 0
  end
  if ARGV[4] == '' then
    redis.call('SET', KEYS[1], ARGV[3])
  else
    redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
  end
  return 1
`

// Each case is a dialogue on a connection of its own: commands and their replies. A reply that ends
// in "…" is the beginning of one.
var dialogues = map[string][][2]string{
	"values": {
		{"GET k", "nil"},
		{"SET k v", "OK"},
		{"get k", `"v"`},
		{"EXISTS k k x", "(2)"},
		{"MGET k x k", `["v" nil "v"]`},
		{"DEL k x", "(1)"},
		{"DEL k", "(0)"},
		{"GET k", "nil"},
	},
	"SET takes conditions": {
		{"SET k 1 XX", "nil"},
		{"SET k 1 NX", "OK"},
		{"SET k 2 NX", "nil"},
		{"GET k", `"1"`},
		{"SET k 3 XX PX 60000", "OK"},
		{"GET k", `"3"`},
		{"SET k 4 nx xx", "-ERR syntax error"},
		{"SET k 4 PX 5 EX 5", "-ERR syntax error"},
		{"SET k 4 PX", "-ERR syntax error"},
		{"SET k 4 KEEPTTL", "-ERR syntax error: this server has no KEEPTTL…"},
		{"SET k 4 PX 0", "-ERR invalid expire time…"},
		{"SET k 4 PX -1", "-ERR invalid expire time…"},
		{"SET k 4 EX 9223372036854775807", "-ERR invalid expire time…"},
		{"SET k 4 PX x", "-ERR value is not an integer…"},
		{"GET k", `"3"`},
	},
	"a plain SET clears the ttl": {
		{"TTL k", "(-2)"},
		{"SET k v EX 100", "OK"},
		{"TTL k", "(100)"},
		{"SET k v", "OK"},
		{"TTL k", "(-1)"},
		{"PTTL k", "(-1)"},
		{"PTTL x", "(-2)"},
	},
	"errors leave the connection": {
		{"FLUSHALL now", "-ERR unknown command 'FLUSHALL'…"},
		{"GET", "-ERR wrong number of arguments for 'get' command"},
		{"SET k", "-ERR wrong number of arguments for 'set' command"},
		{"GET ..", "-ERR invalid: key must not be…"},
		{"GET \xff", "-ERR invalid: key is not UTF-8…"},
		{"SET file:/../x v", "-ERR invalid: key = \"/../x\" has the part…"},
		{"PING", "PONG"},
	},
	"a transaction of writes": {
		{"MULTI", "OK"},
		{"SET a 1", "QUEUED"},
		{"DEL a b", "QUEUED"},
		{"SET a 2", "QUEUED"},
		{"PING", "QUEUED"},
		{"EXEC", "[OK (1) OK PONG]"},
		{"GET a", `"2"`},
		{"MULTI", "OK"},
		{"DEL x a y", "QUEUED"},
		{"SET b 1", "QUEUED"},
		{"DEL z b", "QUEUED"},
		{"EXEC", "[(1) OK (1)]"},
	},
	"a transaction of reads": {
		{"SET a 1", "OK"},
		{"MULTI", "OK"},
		{"GET a", "QUEUED"},
		{"EXISTS a b", "QUEUED"},
		{"EXEC", `["1" (1)]`},
	},
	"a transaction of both": {
		{"SET a 1", "OK"},
		{"SET c 3", "OK"},
		{"MULTI", "OK"},
		{"GET a", "QUEUED"},
		{"SET a 2 NX", "QUEUED"},
		{"SET a 3 XX EX 100", "QUEUED"},
		{"GET a", "QUEUED"},
		{"TTL a", "QUEUED"},
		{"SET b 1 NX", "QUEUED"},
		{"DEL c c", "QUEUED"},
		{"GET d", "QUEUED"},
		{"EXEC", `["1" nil OK "3" (100) OK (1) nil]`},
		{"MGET a b c d", `["3" "1" nil nil]`},
	},
	"a transaction that only looks at a key": {
		{"SET a 1 EX 100", "OK"},
		{"MULTI", "OK"},
		{"GET a", "QUEUED"},
		{"SET b 2", "QUEUED"},
		{"EXEC", `["1" OK]`},
		{"MGET a b", `["1" "2"]`},
		{"TTL a", "(100)"},
	},
	"a transaction with an error": {
		{"EXEC", "-ERR EXEC without MULTI"},
		{"DISCARD", "-ERR DISCARD without MULTI"},
		{"MULTI", "OK"},
		{"MULTI", "-ERR MULTI calls can not be nested"},
		{"SET a 1", "QUEUED"},
		{"SCAN 0", "-ERR SCAN is not allowed in transactions"},
		{"SET", "-ERR wrong number of arguments for 'set' command"},
		{"EXEC", "-EXECABORT…"},
		{"GET a", "nil"},
		{"MULTI", "OK"},
		{"SET a 1", "QUEUED"},
		{"DISCARD", "OK"},
		{"GET a", "nil"},
		{"MULTI", "OK"},
		{"EXEC", "[]"},
	},
	"sessions": {
		{"PING hello", `"hello"`},
		{"ECHO hello", `"hello"`},
		{"AUTH anything", "OK"},
		{"AUTH default anything", "OK"},
		{"SELECT 0", "OK"},
		{"SELECT 1", "-ERR DB index is out of range…"},
		{"CLIENT SETNAME me", "OK"},
		{"CLIENT GETNAME", `"me"`},
		{"CLIENT SETINFO LIB-NAME x", "OK"},
		{"CLIENT LIST", "-ERR unknown subcommand…"},
		{"INFO", "\"# Server\\r\\nredis_version:7…"},
		{"HELLO 4", "-NOPROTO…"},
		{"HELLO 2 SETNAME you", `["server" "redis" "version" "7.2.0" "proto" (2)…`},
		{"CLIENT GETNAME", `"you"`},
		{"HELLO 3", `{"server" "redis" "version" "7.2.0" "proto" (3)…`},
		{"GET k", "null"},
		{"RESET", "RESET"},
		{"GET k", "nil"},
		{"CLIENT GETNAME", `""`},
		{"COMMAND COUNT", "(24)"},
		{"COMMAND INFO get nothing", `[["get" (2) [readonly] (1) (1) (1)] nil]`},
		{"COMMAND DOCS get", `["get" ["summary" "Returns the value of a key."]]`},
		{"QUIT", "OK"},
	},
	"scripts": {
		{"EVAL return 0", "-ERR this server runs no scripts…"},
		{"EVALSHA 0000000000000000000000000000000000000000 1 k missing x v x", "-NOSCRIPT…"},
		{"SCRIPT LOAD return", "-ERR this server runs no scripts…"},
		{"SCRIPT EXISTS 00", "[(0)]"},
		{"SCRIPT KILL", "-ERR unknown subcommand 'KILL'…"},
	},
}

func TestDialogues(t *testing.T) {
	for name, dialogue := range dialogues {
		t.Run(name, func(t *testing.T) {
			c := dial(t, start(t, memstore.New(), redis.Options{Version: "test"}))
			for _, turn := range dialogue {
				got := c.do(turn[0])
				begin, open := strings.CutSuffix(turn[1], "…")
				if got != turn[1] && (!open || !strings.HasPrefix(got, begin)) {
					t.Errorf("%s: %s, want %s", turn[0], got, turn[1])
				}
			}
		})
	}
}

func TestAnExpiredKeyIsGone(t *testing.T) {
	store := memstore.New()
	later := time.Duration(0)
	store.Clock = func() time.Time { return time.Now().Add(later) }
	c := dial(t, start(t, store, redis.Options{}))
	for _, set := range []string{"SET k v PX 60000", "SET l v"} {
		if got := c.do(set); got != "OK" {
			t.Fatal(got)
		}
	}
	later = time.Minute
	if got := c.do("MGET k l"); got != `[nil "v"]` {
		t.Errorf("after the ttl: %s", got)
	}
	if got := c.do("SET k w NX"); got != "OK" {
		t.Errorf("SET NX of an expired key: %s", got)
	}
}

func TestThePipelinesRepliesKeepTheirOrder(t *testing.T) {
	c := dial(t, start(t, memstore.New(), redis.Options{}))
	var all strings.Builder
	for _, line := range []string{"SET k 1", "GET k", "SET k 2", "NOTHING", "GET k", "DEL k"} {
		all.WriteString(encode(strings.Fields(line)...))
	}
	c.raw(all.String())
	for i, want := range []string{"OK", `"1"`, "OK", "-ERR unknown command 'NOTHING', with args beginning with: ", `"2"`, "(1)"} {
		if got := c.reply(); got != want {
			t.Errorf("reply %d: %s, want %s", i, got, want)
		}
	}
}

func TestTheCompareAndSetScript(t *testing.T) { // V-1 to V-3
	c := dial(t, start(t, memstore.New(), redis.Options{}))
	swap := func(mode, previous, value, ttl string) string {
		t.Helper()
		return c.send("EVAL", jidoScript, "1", "k", mode, previous, value, ttl)
	}
	for i, each := range []struct{ got, want string }{
		{swap("value", "", "a", ""), "(0)"},
		{swap("missing", "", "a\x00\r\n", "60000"), "(1)"},
		{swap("missing", "", "b", ""), "(0)"},
		{swap("value", "a", "b", ""), "(0)"},
		{c.do("TTL k"), "(60)"},
		{swap("value", "a\x00\r\n", "", ""), "(1)"},
		{c.do("TTL k"), "(-1)"},
		{swap("value", "", "c", "0"), "-ERR invalid expire time in 'set' command: use 1 ms to 10 years"},
		{swap("value", "", "c", ""), "(1)"},
		{c.do("GET k"), `"c"`},
		{c.send("EVAL", jidoScript, "2", "k", "l", "missing", "", "x"), "-ERR the compare-and-set takes 1 key and 4 arguments: missing or value, the previous bytes, the new bytes, and a ttl in ms or nothing"},
		{c.do("MULTI"), "OK"},
		{swap("value", "x", "d", ""), "QUEUED"},
		{swap("value", "c", "e", ""), "QUEUED"},
		{c.do("EXEC"), "[(0) (1)]"},
		{c.do("GET k"), `"e"`},
	} {
		if each.got != each.want {
			t.Errorf("%d: %s, want %s", i, each.got, each.want)
		}
	}
	hash := strings.Trim(c.send("SCRIPT", "LOAD", jidoScript), `"`)
	if got := c.send("EVALSHA", hash, "1", "k", "value", "e", "f", ""); got != "(1)" {
		t.Errorf("EVALSHA %s: %s", hash, got)
	}
	for name, other := range map[string]string{
		"another reply":      strings.Replace(jidoScript, "return 1", "return 2", 1),
		"a long comment":     "--[[\n" + jidoScript + "--]]",
		"another comparison": strings.Replace(jidoScript, "~=", "==", 1),
	} {
		if got := c.send("EVAL", other, "1", "k", "value", "f", "g", ""); !strings.HasPrefix(got, "-ERR this server runs no scripts") {
			t.Errorf("a script with %s: %s", name, got)
		}
	}
	if got := c.send("EVAL", "-- swaps\n"+strings.ReplaceAll(jidoScript, "'", `"`), "1", "k", "value", "f", "g", ""); got != "(1)" {
		t.Errorf("the script with a comment and other quotes: %s", got)
	}
}

func TestScanFindsEachKeyOnce(t *testing.T) {
	store := memstore.New()
	addr := start(t, store, redis.Options{Scope: "team"})
	for i := range 25 {
		key := "jido:th:" + string(rune('a'+i))
		if _, err := store.Commit(t.Context(), agent.Commit{Scope: "team", Ops: []agent.Op{&agent.PutValue{Key: key}, &agent.PutValue{Key: "other" + key}}}); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]int{"*": 50, "jido:*": 25, "jido:th:[a-c]": 3, "*th:?": 50, "none*": 0, `jido\:th:a`: 1} {
		seen := map[string]bool{}
		cursor := "0"
		for pages := 0; pages == 0 || cursor != "0"; pages++ {
			if pages > 50 {
				t.Fatalf("SCAN %s does not end", pattern)
			}
			c := dial(t, addr) // a pool of connections may use any
			got := strings.Fields(strings.Trim(c.send("SCAN", cursor, "MATCH", pattern, "COUNT", "7"), "[]"))
			cursor = strings.Trim(got[0], `"`)
			for _, key := range got[1:] {
				if key = strings.Trim(key, "[]"); key == "" {
					continue
				}
				if seen[key] {
					t.Errorf("SCAN %s shows %s twice", pattern, key)
				}
				seen[key] = true
			}
		}
		if len(seen) != want {
			t.Errorf("SCAN %s finds %d keys, want %d", pattern, len(seen), want)
		}
	}
	c := dial(t, addr)
	for command, want := range map[string]string{
		"SCAN 1":              "-ERR invalid cursor: this node does not know it; scan from 0",
		"SCAN x":              "-ERR invalid cursor",
		"SCAN 0 MATCH":        "-ERR syntax error",
		"SCAN 0 COUNT 0":      "-ERR value is not an integer or out of range",
		"SCAN 0 TYPE hash":    `["0" []]`,
		"SCAN 0 COUNT 99 X 1": "-ERR syntax error",
	} {
		if command == "SCAN 0 TYPE hash" {
			command += " COUNT 1000"
		}
		if got := c.do(command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
