package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/cmd/dormctl/kit"
	"dormouse/node/nodetest"
)

var rewrite = flag.Bool("rewrite", false, "write what comes out into testdata/scripts")

// console runs dormctl on a store in memory.
type console struct {
	store    *fakeNode
	real     *nodetest.Node // instead of store
	env      map[string]string
	dialled  []string // endpoints of each connection
	dialling error    // what dialling fails with
	terminal bool
}

func newConsole() *console {
	s := newFakeNode()
	member := func(n int, voter, leader bool, status string) layout.MemberStatus {
		port := func(p int) string { return fmt.Sprintf("127.0.0.1:%d", 7600+10*(n-1)+p) }
		m := layout.MemberStatus{Voter: voter, Leader: leader, Status: status, AppliedIndex: uint64(40 + n)}
		m.Member = layout.Member{
			ID: fmt.Sprintf("n%d", n), Incarnation: fmt.Sprintf("inc%d", n), Version: "v1", WantVote: true,
			HTTPAddr: port(0), GRPCAddr: port(1), RaftAddr: port(2), GossipAddr: port(3),
		}
		return m
	}
	s.cluster = layout.ClusterStatus{
		ClusterID: "c-1", Node: "n1", Leader: "n2", Term: 7, CommitIndex: 43, AppliedIndex: 42, Chain: 0xbeef, FeatureLevel: 1, Version: "v1",
		Members: []layout.MemberStatus{member(1, true, false, "alive"), member(2, true, true, "alive"), member(3, false, false, "failed")},
	}
	s.cluster.Members[2].DrainedAt = 1_800_000_000_000
	s.snapshot = []byte("a snapshot")
	s.feed = []agent.Changed{
		{Index: 57, Time: 1_800_000_000_057, Kind: agent.ChangedThread, Key: "t1", Revision: 5},
		{Index: 57, Ordinal: 1, Time: 1_800_000_000_057, Kind: agent.ChangedSession, Key: "s1", Revision: 2, Status: "waiting"},
		{Index: 57, Ordinal: 2, Time: 1_800_000_000_057, Kind: agent.ChangedReview, Key: "r1", Status: "pending"},
		{Index: 60, Time: 1_800_000_000_060, Kind: agent.ChangedClaim, Key: "session:s1", Revision: 65537},
		{Index: 61, Time: 1_800_000_000_061, Kind: agent.ChangedMemory, Agent: "anna", Key: "m1", Deleted: true},
		{Index: 62, Time: 1_800_000_000_062, Kind: agent.ChangedMessage, Conversation: "c1", Key: "m2", Revision: 3},
		{Index: 63, Time: 1_800_000_000_063, Kind: agent.ChangedTimer, Manager: "notes", Instance: "anna", Key: "nightly", Revision: 65538, Status: agent.TimerParked},
	}
	return &console{store: s, env: map[string]string{}}
}

func (c *console) run(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	a := &kit.App{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Terminal: c.terminal,
		Getenv: func(key string) string { return c.env[key] },
		Dial: func(to kit.Target) (kit.Store, error) {
			how := fmt.Sprintf("%s fixed=%t", strings.Join(to.Endpoints, ","), to.Fixed)
			if to.Tls != nil {
				how += fmt.Sprintf(" tls certificates=%d", len(to.Tls.Certificates))
			}
			c.dialled = append(c.dialled, how)
			if c.real != nil {
				return kept{c.real.Client}, nil
			}
			return c.store, c.dialling
		},
	}
	code = run(context.Background(), a, args)
	return out.String(), errs.String(), code
}

// kept is a client that outlives the commands that use it.
type kept struct{ *client.Client }

func (kept) Close() error { return nil }

// TestScripts plays testdata/scripts: lines that begin with "$ " are run, those
// with "| " after them are their stdin, and what follows must come out: stdout,
// then stderr behind "2> ", then the exit code if it is not 0. "% fail CODE"
// makes the next commit's answer that error, after it has applied; "% pass SPAN"
// lets time go by. A script that begins with "% real" is played on a real node,
// in virtual time; numbers of five digits and more, indexes, times and UUIDs differ each
// time, and are written as #. Run with -rewrite to write down what does come out.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if strings.HasPrefix(string(want), "% real\n") {
				synctest.Test(t, func(t *testing.T) {
					got = changing.ReplaceAllString(play(t, &console{real: nodetest.Start(t)}, string(want)), "#")
				})
			} else {
				got = play(t, newConsole(), string(want))
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("run with -rewrite if this is as it should be:\n%s", diff)
			}
		})
	}
}

// changing is what a real node says otherwise each time.
var changing = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{5,}\b|\bindex +\d+\b`)

// play runs a script and returns it with what came out.
func play(t *testing.T, c *console, script string) string {
	t.Helper()
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(script, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "#") || line == "" && (i+1 == len(lines) || strings.HasPrefix(lines[i+1], "$") || strings.HasPrefix(lines[i+1], "#") || strings.HasPrefix(lines[i+1], "%")):
			b.WriteString(line + "\n")
		case line == "% real":
			b.WriteString(line + "\n")
		case strings.HasPrefix(line, "% fail "):
			b.WriteString(line + "\n")
			code := agent.Code(strings.TrimPrefix(line, "% fail "))
			c.store.AfterCommit = func(context.Context, agent.Commit) error {
				c.store.AfterCommit = nil
				return agent.Errorf(code, "made to fail")
			}
		case strings.HasPrefix(line, "% pass "):
			b.WriteString(line + "\n")
			span, err := time.ParseDuration(strings.TrimPrefix(line, "% pass "))
			if err != nil {
				t.Fatal(err)
			}
			if c.real != nil {
				time.Sleep(span)
			} else {
				c.store.Pass(span)
			}
		case strings.HasPrefix(line, "$ "):
			b.WriteString(line + "\n")
			stdin := ""
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|") {
				i++
				b.WriteString(lines[i] + "\n")
				stdin += strings.TrimPrefix(strings.TrimPrefix(lines[i], "|"), " ") + "\n"
			}
			args, err := words(strings.TrimPrefix(line, "$ "))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			out, errs, code := c.run(stdin, args...)
			b.WriteString(out)
			if out != "" && !strings.HasSuffix(out, "\n") {
				b.WriteString("⏎\n")
			}
			for errLine := range strings.Lines(errs) {
				b.WriteString("2> " + strings.TrimSuffix(errLine, "\n") + "\n")
			}
			if code != 0 {
				fmt.Fprintf(&b, "exit %d\n", code)
			}
		}
	}
	return b.String()
}

// words splits a line as a shell does, with single quotes only.
func words(line string) (list []string, err error) {
	var word strings.Builder
	quoted, some := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, some = !quoted, true
		case r == ' ' && !quoted:
			if some {
				list = append(list, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(r)
			some = true
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if some {
		list = append(list, word.String())
	}
	return list, nil
}
