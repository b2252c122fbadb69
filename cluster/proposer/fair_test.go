package proposer

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func cmds(q *fairQueue, tenant string, n, bytes int) {
	for range n {
		q.add(tenant, pending{ctx: context.Background(), cmd: make([]byte, bytes)})
	}
}

// For any commits of any tenants: each leaves once, those of one tenant in order, within the bounds
// of an entry; and a commit leaves within an entry for each tenant and each share before it. Those
// whose callers gave up leave beside the entry.
func TestEachCommitLeavesOnceAndInTurn(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	rapid.Check(t, func(t *rapid.T) {
		q := &fairQueue{}
		type label struct {
			tenant string
			n      int
		}
		added, left := map[string]int{}, map[string]int{}
		waits := map[string]int{} // :: tenant → entries since its first commit waits
		bytes := map[label]int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				tenant := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "tenant")
				size := rapid.SampledFrom([]int{8, 8, 1000, quantumBytes, BatchBytesMax / 2, BatchBytesMax + 8}).Draw(t, "bytes")
				commits := rapid.SampledFrom([]int{1, 1, 5, 100, 2000}).Draw(t, "commits")
				if size > 1000 {
					commits = min(commits, 5)
				}
				ctx := rapid.SampledFrom([]context.Context{context.Background(), context.Background(), ended}).Draw(t, "caller")
				for range commits {
					cmd := make([]byte, size)
					copy(cmd, tenant)
					binary.BigEndian.PutUint32(cmd[1:], uint32(added[tenant]))
					if q.add(tenant, pending{ctx: ctx, cmd: cmd}) {
						bytes[label{tenant, added[tenant]}] = size
						added[tenant]++
					}
				}
				continue
			}
			out, gone := q.cut()
			total := 0
			served := map[string]int{}
			leaving := map[string][]int{} // the numbers of a tenant's commits that leave
			for i, w := range append(out, gone...) {
				if (w.ctx == ended) != (i >= len(out)) {
					t.Fatalf("commit %d of %d that leave, of which %d stay in the entry: caller gone %v", i, len(out)+len(gone), len(out), w.ctx == ended)
				}
				tenant := strings.TrimRight(string(w.cmd[:1]), "\x00")
				n := int(binary.BigEndian.Uint32(w.cmd[1:]))
				if len(w.cmd) != bytes[label{tenant, n}] {
					t.Fatalf("commit %d of %q has %d bytes", n, tenant, len(w.cmd))
				}
				if here := leaving[tenant]; i < len(out) && len(here) > 0 && here[len(here)-1] > n {
					t.Fatalf("commit %d of %q is decided after %d", n, tenant, here[len(here)-1])
				}
				leaving[tenant] = append(leaving[tenant], n)
				if i < len(out) {
					total += len(w.cmd)
				}
			}
			for tenant, numbers := range leaving {
				slices.Sort(numbers)
				for _, n := range numbers {
					if n != left[tenant] {
						t.Fatalf("commit %d of %q leaves after %d", n, tenant, left[tenant])
					}
					left[tenant]++
					served[tenant]++
				}
			}
			if len(out) > BatchCommitsMax || total > BatchBytesMax && len(out) > 1 {
				t.Fatalf("an entry of %d commits and %d bytes", len(out), total)
			}
			for tenant := range added {
				if waits[tenant]++; served[tenant] > 0 || left[tenant] == added[tenant] {
					waits[tenant] = 0
				}
				if waits[tenant] > 4*len(added) {
					t.Fatalf("%q has waited for %d entries", tenant, waits[tenant])
				}
			}
		}
		count, size := 0, 0
		for tenant := range added {
			count += added[tenant] - left[tenant]
			for n := left[tenant]; n < added[tenant]; n++ {
				size += bytes[label{tenant, n}]
			}
		}
		if q.count != count || q.bytes != size || (q.count == 0) != (len(q.tenants) == 0) || len(q.turns) != len(q.tenants) {
			t.Fatalf("%d commits of %d bytes are left, and it counts %d of %d for %d tenants", count, size, q.count, q.bytes, len(q.tenants))
		}
		if n := len(q.clear()); n != count || q.count != 0 {
			t.Fatalf("%d of %d commits were cleared", n, count)
		}
	})
}

// A flood does not keep another tenant out of the queue, nor out of the next entry.
func TestAFloodLeavesRoomForOthers(t *testing.T) {
	q := &fairQueue{}
	cmds(q, "noisy", 2*QueueCommitsMax, 10)
	if q.count != QueueCommitsMax {
		t.Fatalf("%d commits of one tenant wait", q.count)
	}
	if !q.add("quiet", pending{ctx: t.Context(), cmd: []byte("x")}) {
		t.Fatal("another tenant has no room")
	}
	if q.add("quiet", pending{ctx: t.Context(), cmd: make([]byte, quantumBytes+1)}) {
		t.Error("a large commit takes the room for small ones")
	}
	out, _ := q.cut()
	if len(out) != shareMax+1 {
		t.Fatalf("the entry has %d commits", len(out))
	}
	if !slices.ContainsFunc(out, func(w pending) bool { return string(w.cmd) == "x" }) {
		t.Error("the other tenant is not in the next entry")
	}
	for i := range 2 * QueueCommitsMax { // a flood of tenants is bounded too
		q.add(fmt.Sprint(i), pending{ctx: t.Context(), cmd: []byte("x")})
	}
	if q.count != QueueCommitsMax+spareCommits {
		t.Errorf("%d commits wait", q.count)
	}
	q = &fairQueue{bytes: QueueBytesMax + spareBytes - 1}
	if one := (pending{ctx: t.Context(), cmd: []byte("x")}); !q.add("a", one) || q.add("b", one) {
		t.Errorf("%d bytes wait, of %d", q.bytes, QueueBytesMax+spareBytes)
	}
}

// One tenant alone fills entries, also beside commits of the node itself.
func TestOneTenantAloneFillsEntries(t *testing.T) {
	q := &fairQueue{}
	for range 5 {
		cmds(q, "one", 2000, 10)
		cmds(q, "", 1, 10)
		if out, _ := q.cut(); len(out) != BatchCommitsMax {
			t.Fatalf("the entry has %d commits", len(out))
		}
	}
}

// A setting can make entries smaller, and a queue that was cleared keeps it.
func TestAnEntryHasAtMostTheCommitsOfTheSetting(t *testing.T) {
	q := New(Options{EntryCommits: 3}).queue
	q.clear()
	cmds(&q, "one", 4, 10)
	cmds(&q, "other", 3, 10)
	var sizes []int
	for q.count > 0 {
		out, _ := q.cut()
		sizes = append(sizes, len(out))
	}
	if len(sizes) != 3 || sizes[0] != 3 || sizes[1] != 3 || sizes[2] != 1 {
		t.Errorf("7 commits are in entries of %v", sizes)
	}
	if n := New(Options{EntryCommits: 5000}).queue.most(); n != BatchCommitsMax {
		t.Errorf("a larger setting allows %d", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, tenants := range []int{1, 16} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			q, cmd := &fairQueue{}, make([]byte, 300)
			names := make([]string, tenants)
			for i := range names {
				names[i] = fmt.Sprint("t", i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q.add(names[i%tenants], pending{ctx: b.Context(), cmd: cmd})
				if i%256 == 255 {
					q.cut()
				}
			}
		})
	}
}
