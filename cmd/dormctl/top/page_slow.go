package top

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"dormouse/api/document"
)

var slowPage = page{
	name: "slow calls", sort: 0, nothing: "no slow calls: a node keeps those that take at least log.slow_call",
	columns: []column{
		{name: "ago"},
		{name: "node", left: true, least: 8, drop: 2},
		{name: "took", desc: true},
		{name: "call", left: true},
		{name: "scope", left: true, least: 8, drop: 7},
		{name: "first", left: true, least: 10, drop: 4},
		{name: "ops", desc: true, drop: 8},
		{name: "instance", left: true, least: 10, drop: 6},
		{name: "queue", desc: true, drop: 5},
		{name: "replicate", desc: true, drop: 3},
		{name: "apply", desc: true, drop: 5},
		{name: "leader", desc: true, drop: 5},
		{name: "code", left: true, drop: 6},
		{name: "trace", left: true, least: 8, drop: 9},
	},
}

// slowCalls returns the page of the last slow calls of all nodes.
func (s *source) slowCalls(ctx context.Context) (out answer) {
	status, err := s.store.Status(ctx)
	if err != nil {
		out.lose("ask for the members", err)
		return out
	}
	lists, errs := make([]document.SlowCalls, len(status.Members)), make([]error, len(status.Members))
	var asked sync.WaitGroup
	for i, m := range status.Members {
		if m.Host {
			continue
		}
		asked.Go(func() {
			var raw []byte
			if raw, errs[i] = s.web.Get(ctx, m.HTTPAddr, "/v1/cluster/slow-calls"); errs[i] == nil {
				errs[i] = json.Unmarshal(raw, &lists[i])
			}
		})
	}
	asked.Wait()
	now := time.Now()
	for i, m := range status.Members {
		if errs[i] != nil {
			out.fail(m.ID, errs[i])
		}
		for n := range lists[i].Calls {
			c := &lists[i].Calls[n]
			out.rows = append(out.rows, slowRow(now, m.ID, len(lists[i].Calls)-n, c))
		}
	}
	out.cut("slow calls")
	out.at = now
	return out
}

func slowRow(now time.Time, node string, at int, c *document.SlowCall) row {
	ago := number(spanText(since(now, c.At)), float64(now.UnixMilli()-c.At))
	code := orDash(c.Code)
	if c.Code != "" {
		code = code.in(red)
	}
	key := fmt.Sprintf("%s %d %s %s %s %d %d", node, c.At, c.Call, c.Scope, c.First, c.TookUS, at)
	return row{key: key, cells: []cell{
		ago, words(node), micros(c.TookUS), words(c.Call), words(c.Scope), orDash(c.First), count(c.Ops), orDash(strings.Trim(c.Manager+"/"+c.Key, "/")),
		micros(c.QueueUS), micros(c.ReplicateUS), micros(c.ApplyUS), micros(c.LeaderUS), code, orDash(c.Trace),
	}}
}
