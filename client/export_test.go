package client_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/client"
)

// exported is an export of one node: parts of rows, which name the node, of a size each.
type exported struct {
	node  string
	parts int
	size  int
	err   error // in place of the end
	asked int
}

func (x *exported) write(write func(agent.ScopePart) error) error {
	x.asked++
	if x.parts > 0 {
		if err := write(agent.ScopePart{Header: &agent.ScopeHeader{ClusterID: "c", Index: 7}}); err != nil {
			return err
		}
	}
	for range x.parts {
		if err := write(agent.ScopePart{Rows: []byte(strings.Repeat(x.node, x.size))}); err != nil {
			return err
		}
	}
	return x.err
}

const mib = 1 << 20

// TestAnExportRestartsUntilItsRowsAreDelivered exports from two nodes, the first of which fails.
func TestAnExportRestartsUntilItsRowsAreDelivered(t *testing.T) {
	gone := agent.Errorf(agent.CodeUnavailable, "the node stops")
	for _, c := range []struct {
		name     string
		a, b     exported
		headers  int
		from     string // the node whose rows the caller has
		rows     int
		code     agent.Code
		attempts int // at the first node, at least
	}{
		{"refused at once", exported{err: gone}, exported{parts: 2, size: 3}, 1, "b", 6, "", 1},
		{"overloaded", exported{err: agent.Errorf(agent.CodeOverloaded, "busy")}, exported{}, 0, "", 0, agent.CodeOverloaded, 3},
		{"breaks in the middle", exported{parts: 2, size: 3, err: gone}, exported{parts: 2, size: 3}, 1, "b", 6, "", 1},
		{"breaks with all of 4 MiB held", exported{parts: 4, size: mib, err: gone}, exported{parts: 4, size: mib}, 1, "b", 4 * mib, "", 1},
		{"breaks after more", exported{parts: 5, size: mib, err: gone}, exported{parts: 5, size: mib}, 1, "a", 5 * mib, agent.CodeUnavailable, 1},
		{"larger than what is held", exported{parts: 6, size: mib}, exported{err: gone}, 1, "a", 6 * mib, "", 1},
		{"no such scope", exported{err: agent.Errorf(agent.CodeNotFound, "there is none")}, exported{parts: 1, size: 1}, 0, "", 0, agent.CodeNotFound, 1},
		{"no node serves", exported{err: gone}, exported{err: gone}, 0, "", 0, agent.CodeUnavailable, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.a.node, c.b.node = "a", "b"
				w := newWires(t)
				for _, node := range []*exported{&c.a, &c.b} {
					f := &fake{export: node.write}
					w.serve(node.node, f, f)
				}
				client := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
				headers, rows := 0, ""
				began := time.Now()
				err := client.ExportScope(t.Context(), "s", func(part agent.ScopePart) error {
					if part.Header != nil {
						headers++
					}
					rows += string(part.Rows)
					return nil
				})
				if agent.CodeOf(err) != c.code || headers != c.headers || rows != strings.Repeat(c.from, c.rows) || c.a.asked < c.attempts {
					t.Errorf("%d headers and %d bytes after %d attempts at the first node: %v", headers, len(rows), c.a.asked, err)
				}
				if took := time.Since(began); took > 25*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// The error of the caller's function ends the export, and is not mistaken for the node's.
func TestAnExportEndsWithTheErrorOfItsCaller(t *testing.T) {
	for _, size := range []int{1, 5 * mib} {
		synctest.Test(t, func(t *testing.T) {
			w, x := newWires(t), &exported{node: "a", parts: 2, size: size}
			f := &fake{export: x.write}
			w.serve("a", f, f)
			c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
			want := error(agent.Errorf(agent.CodeUnavailable, "the disk is full"))
			if err := c.ExportScope(t.Context(), "s", func(agent.ScopePart) error { return want }); !errors.Is(err, want) || x.asked != 1 {
				t.Errorf("%d bytes a part: %v after %d attempts", size, err, x.asked)
			}
		})
	}
}

// A node that vanishes without a word in the middle is found out, and another node exports all.
func TestAnExportLeavesANodeThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := newWires(t), &exported{node: "b", parts: 1, size: 1}
		var muted atomic.Bool
		dial := w.muting("a", &muted)
		ended := make(chan struct{})
		first, second := &fake{export: func(write func(agent.ScopePart) error) error {
			muted.Store(true)
			err := write(agent.ScopePart{Header: &agent.ScopeHeader{}})
			<-ended
			return err
		}}, &fake{export: b.write}
		w.serve("a", first, first)
		w.serve("b", second, second)
		t.Cleanup(func() { close(ended) }) // before the servers are stopped
		c, err := client.Dial(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, DialOptions: []grpc.DialOption{grpc.WithContextDialer(dial)}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		rows := ""
		err = c.ExportScope(t.Context(), "s", func(part agent.ScopePart) error {
			rows += string(part.Rows)
			return nil
		})
		if err != nil || rows != "b" || !muted.Load() {
			t.Errorf("%q, %v", rows, err)
		}
	})
}
