package redis

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"dormouse/agent"
)

// cursors are the scans that can be continued. A cursor of Redis is a number, and a page of values
// continues after a key, so the server keeps the key. Connections share the cursors, because a pool of
// connections may continue a scan on any of them. Cursors are random: that of another node is unknown,
// and not taken for another scan.
type cursors struct {
	mu   sync.Mutex
	keys *simplelru.LRU[uint64, string] // guarded by mu; cursor → the last key of the page
}

// cursorBits is the size of a cursor: some clients keep it as a float.
const cursorBits = 53

func newCursors() *cursors {
	keys, err := simplelru.NewLRU[uint64, string](cursorsMax, nil)
	if err != nil {
		panic(err) // only a size of 0 can cause this
	}
	return &cursors{keys: keys}
}

// after returns the key after which a scan continues.
func (c *cursors) after(cursor uint64) (string, bool) {
	if cursor == 0 {
		return "", true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys.Get(cursor)
}

// add returns the cursor that continues a scan after a key; 0 if the key is "".
func (c *cursors) add(key string) uint64 {
	if key == "" {
		return 0
	}
	cursor := max(1, rand.Uint64()>>(64-cursorBits))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys.Add(cursor, key)
	return cursor
}

// scan is a parsed SCAN.
type scan struct {
	after   string
	pattern string // "" means all keys
	count   uint64
	none    bool // it asks for another type than strings
}

func (s *Server) parseScan(args [][]byte) (scan, error) {
	q := scan{count: scanDefault}
	cursor, err := strconv.ParseUint(string(args[1]), 10, 64)
	if err != nil {
		return q, failure("ERR invalid cursor")
	}
	var ok bool
	if q.after, ok = s.cursors.after(cursor); !ok {
		return q, failure("ERR invalid cursor: this node does not know it; scan from 0")
	}
	rest := args[2:]
	for ; len(rest) >= 2; rest = rest[2:] {
		switch strings.ToUpper(string(rest[0])) {
		case "MATCH":
			if len(rest[1]) > patternMax {
				return q, agent.TooLarge("pattern", "id_bytes_max", len(rest[1]), patternMax)
			}
			q.pattern = string(rest[1])
		case "COUNT":
			n, err := strconv.ParseUint(string(rest[1]), 10, 32)
			if err != nil || n == 0 {
				return q, errNotInteger
			}
			q.count = min(n, agent.ListLimitMax)
		case "TYPE":
			q.none = !strings.EqualFold(string(rest[1]), "string")
		default:
			return q, errSyntax
		}
	}
	if len(rest) > 0 {
		return q, errSyntax
	}
	return q, nil
}

// runScan replies with the keys of a page of COUNT values that match.
func runScan(ctx context.Context, c *conn, args [][]byte) {
	q, err := c.server.parseScan(args)
	if err != nil {
		c.replies.value(err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	page := agent.Page{Prefix: literal(q.pattern), After: q.after, Limit: q.count}
	answers, err := c.read(ctx, []agent.Read{&agent.ListValues{Page: page}})
	if err == nil {
		err = errorOf(answers[0].Err)
	}
	if err != nil {
		c.replies.value(err)
		return
	}
	found, ok := answers[0].Found.(*agent.ValueList)
	if !ok {
		c.replies.value(agent.Errorf(agent.CodeInternal, "the answer to ListValues is a %T", answers[0].Found))
		return
	}
	keys := []any{}
	for _, row := range found.Items {
		if !q.none && (q.pattern == "" || glob(q.pattern, row.Key)) {
			keys = append(keys, row.Key)
		}
	}
	c.replies.value([]any{strconv.FormatUint(c.server.cursors.add(found.Next), 10), keys})
}
