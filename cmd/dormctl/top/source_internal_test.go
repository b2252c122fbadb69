package top

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/cmd/dormctl/kit"
)

// cluster is a store in memory, with live instances that only count.
type cluster struct {
	kit.Store
	memory  *memstore.Store
	members []layout.MemberStatus
	broken  error // what reads fail with
	timers  int   // of the manager; 0 means those in memory. The last one is due first

	reads, asked, now, most atomic.Int64 // reads; statistics asked for in all, now, and most at once
}

func (c *cluster) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	c.reads.Add(1)
	if c.broken != nil {
		return agent.Answers{}, c.broken
	}
	if list, ok := r.Reads[0].(*agent.ListTimers); ok && c.timers > 0 {
		return agent.Answers{Answers: []agent.Answer{{Found: c.timersAfter(list.After, int(list.Limit))}}}, nil
	}
	return c.memory.Read(ctx, r)
}

// timersAfter returns a page of as many timers as c.timers says.
func (c *cluster) timersAfter(after string, limit int) *agent.TimerList {
	from, _ := strconv.Atoi(after)
	list := &agent.TimerList{}
	for i := from; i < min(c.timers, from+limit); i++ {
		list.Items = append(list.Items, agent.Timer{Manager: "m", Key: "k", ID: fmt.Sprintf("t%05d", i), Next: int64(1 + c.timers - i)})
	}
	if from+limit < c.timers {
		list.Next = strconv.Itoa(from + limit)
	}
	return list
}

func (c *cluster) Instances() agent.Instances { return instances{c: c} }

func (c *cluster) Status(context.Context) (layout.ClusterStatus, error) {
	return layout.ClusterStatus{Members: c.members}, c.broken
}

type instances struct {
	agent.Instances
	c *cluster
}

func (i instances) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	if manager == "broken" {
		return agent.ManagerStats{}, errors.New("no answer")
	}
	now := i.c.now.Add(1)
	defer i.c.now.Add(-1)
	for most := i.c.most.Load(); now > most && !i.c.most.CompareAndSwap(most, now); most = i.c.most.Load() {
	}
	time.Sleep(time.Microsecond)
	asked := uint64(i.c.asked.Add(1))
	return agent.ManagerStats{Nodes: []agent.NodeStats{{Node: "n1", Awake: len(scope), Signals: 10 * asked}, {Node: "n2", Error: "down"}}}, nil
}

func newCluster() *cluster { return &cluster{memory: memstore.New()} }

// fill commits n ops to a scope.
func (c *cluster) fill(t *testing.T, scope string, n int, op func(i int) agent.Op) {
	t.Helper()
	for from := 0; from < n; from += 100 {
		var ops []agent.Op
		for i := from; i < min(n, from+100); i++ {
			ops = append(ops, op(i))
		}
		if _, err := c.memory.Commit(t.Context(), agent.Commit{Scope: scope, Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
}

// texts returns the texts of a column.
func texts(rows []row, column int) (out []string) {
	for _, r := range rows {
		out = append(out, r.cells[column].text)
	}
	return out
}

func TestSessionsAreCutAtTheirBound(t *testing.T) {
	c := newCluster()
	put := func(prefix string) func(i int) agent.Op {
		return func(i int) agent.Op {
			return &agent.PutSession{Session: fmt.Sprintf("%s%04d", prefix, i), Agent: "anna"}
		}
	}
	c.fill(t, "one", 600, put("a"))
	c.fill(t, "two", rowsMax-600, put("a"))
	s := &source{store: c}
	if got := s.sessions(t.Context()); len(got.rows) != rowsMax || len(got.notes)+len(got.errs) != 0 {
		t.Errorf("%d rows, %q, %q", len(got.rows), got.notes, got.errs)
	}
	c.fill(t, "two", 1, put("b"))
	c.fill(t, "zzz", 1, put("a"))
	c.reads.Store(0)
	got := s.sessions(t.Context())
	if len(got.rows) != rowsMax || !strings.Contains(fmt.Sprint(got.notes), "only the first 1000 sessions") {
		t.Errorf("%d rows, %q", len(got.rows), got.notes)
	}
	if reads := c.reads.Load(); reads > 5 {
		t.Errorf("%d reads", reads)
	}
	if scopes := slices.Compact(texts(got.rows, 0)); fmt.Sprint(scopes) != "[one two]" {
		t.Errorf("scopes %v", scopes)
	}
	c.broken = errors.New("no leader")
	if got := s.sessions(t.Context()); !got.lost || fmt.Sprint(got.errs) != "[list the sessions: no leader]" {
		t.Errorf("%+v", got)
	}
}

func TestManagersAreCutAtTheirBound(t *testing.T) {
	c := newCluster()
	put := func(i int) agent.Op {
		return &agent.PutManager{Manager: agent.Manager{Name: fmt.Sprintf("m%04d", i), Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	}
	c.fill(t, "one", rowsMax+1, put)
	s := &source{store: c}
	got := s.instances(t.Context())
	if len(got.rows) != rowsMax || c.asked.Load() != rowsMax || !strings.Contains(fmt.Sprint(got.notes), "only the first 1000 managers") {
		t.Errorf("%d rows, %d questions, %q", len(got.rows), c.asked.Load(), got.notes)
	}
	if most := c.most.Load(); most > askedAtOnce {
		t.Errorf("%d questions at once", most)
	}
	if fmt.Sprint(got.errs) != "[n2: down]" {
		t.Errorf("errors %q", got.errs)
	}
}

// The rates of a manager are of two answers in a row, and a manager that does not answer is an error.
func TestRatesOfManagers(t *testing.T) {
	c := newCluster()
	for _, name := range []string{"broken", "greeter"} {
		c.fill(t, "s", 1, func(int) agent.Op {
			return &agent.PutManager{Manager: agent.Manager{Name: name, Handler: agent.Handler{Kind: agent.HandlerDocument}}}
		})
	}
	s := &source{store: c}
	if got := s.instances(t.Context()); len(got.rows) != 1 || got.rows[0].cells[6].text != "0.0" || !strings.Contains(fmt.Sprint(got.errs), "s/broken: no answer") {
		t.Errorf("%+v", got)
	}
	s.managers.at = s.managers.at.Add(-10 * time.Second)
	got := s.instances(t.Context())
	if rate := got.rows[0].cells[6].order; rate < 0.5 || rate > 1 {
		t.Errorf("10 signals in 10 s and a little: %v a second", rate)
	}
}

// Of many timers those that are due next are shown.
func TestTimersAreThoseThatAreDueNext(t *testing.T) {
	c := newCluster()
	c.fill(t, "one", 1, func(int) agent.Op {
		return &agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	})
	c.fill(t, "one", 1, func(int) agent.Op { // so that the scope is not passed over
		return &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: "t", Next: 1}}
	})
	c.timers = rowsMax + 1
	s := &source{store: c}
	got := s.timers(t.Context())
	if ids := texts(got.rows, 2); len(ids) != rowsMax || ids[0] != "t01000" || ids[rowsMax-1] != "t00001" {
		t.Errorf("%d timers, from %s to %s", len(ids), ids[0], ids[len(ids)-1])
	}
	if fmt.Sprint(got.notes) != "[only the 1000 timers that are due next are shown]" {
		t.Errorf("%q", got.notes)
	}
	c.timers = 100 * timersRead
	c.reads.Store(0)
	if got = s.timers(t.Context()); len(got.rows) != rowsMax || !strings.Contains(fmt.Sprint(got.notes), "only the first 10000 timers were read") {
		t.Errorf("%d rows, %q", len(got.rows), got.notes)
	}
	if reads := c.reads.Load(); reads != 2+timersRead/agent.ListLimitMax {
		t.Errorf("%d reads", reads)
	}
}

func TestRowsOfTimers(t *testing.T) {
	at := func(d time.Duration) int64 { return began.Add(d).UnixMilli() }
	for _, c := range []struct {
		timer agent.Timer
		want  string
	}{
		{agent.Timer{Manager: "m", Key: "k", ID: "t", Next: at(90 * time.Second)}, "1m30s|s|t|m/k|0|waits|-"},
		{agent.Timer{Manager: "m", Key: "k", ID: "t", Next: at(-time.Minute), NotBefore: at(5 * time.Second), Attempts: 2, LastError: "HTTP 500\n\x1b[2J"}, "5s|s|t|m/k|2|failed|HTTP 500 �[2J"},
		{agent.Timer{Manager: "m", Key: "k", ID: "t", Next: at(-time.Minute), Attempts: 9, LastError: "gone", Parked: true}, "-|s|t|m/k|9|parked|gone"},
		{agent.Timer{Manager: "m", Key: "k", ID: "t", Next: at(-time.Minute)}, "-1m0s|s|t|m/k|0|waits|-"},
		{agent.Timer{Manager: "m", Key: "k", ID: "t"}, "-|s|t|m/k|0|waits|-"},
	} {
		var cells []string
		for _, one := range timerRow(began, &agent.DueTimer{Scope: "s", Timer: c.timer}).cells {
			cells = append(cells, one.text)
		}
		if got := strings.Join(cells, "|"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestRowsOfSessions(t *testing.T) {
	lease := &agent.Lease{Owner: "w1", ExpiresAt: began.Add(20 * time.Second).UnixMilli()}
	for _, c := range []struct {
		session agent.SessionRow
		want    string
	}{
		{agent.SessionRow{ID: "x", Agent: "a", Status: agent.SessionRunning, Lease: lease, RequestCount: 3, CreatedAt: began.Add(-time.Hour).UnixMilli()}, "s|x|a|running|w1|1h0m|20s|3"},
		{agent.SessionRow{ID: "x", Agent: "a", Status: agent.SessionRunning, Lease: lease, Recoverable: true, CreatedAt: began.UnixMilli()}, "s|x|a|running|w1|0s|expired|0"},
		{agent.SessionRow{ID: "x", Status: agent.SessionFinished, CreatedAt: began.UnixMilli()}, "s|x|-|finished|-|0s|-|0"},
	} {
		var cells []string
		for _, one := range sessionRow(began, "s", &c.session).cells {
			cells = append(cells, one.text)
		}
		if got := strings.Join(cells, "|"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// The slow calls are those of all nodes that answer; the others are named. Hosts are not asked.
func TestSlowCallsOfAllNodes(t *testing.T) {
	node := func(status int, body string) string {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/cluster/slow-calls" {
				t.Errorf("it asks for %s", r.URL.Path)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(web.Close)
		return strings.TrimPrefix(web.URL, "http://")
	}
	c := newCluster()
	member := func(id, addr string, host bool) {
		c.members = append(c.members, layout.MemberStatus{Member: layout.Member{ID: id, HTTPAddr: addr, Host: host}})
	}
	member("n1", node(200, `{"node":"n1","calls":[{"at":5,"call":"commit","scope":"s","first":"PutValue","took_us":1500000,"queue_us":3,"trace":"abc"},{"at":4,"call":"read","scope":"s","took_us":9}]}`), false)
	member("n2", node(403, "the token may not"), false)
	member("n3", node(200, "no JSON"), false)
	member("h1", "", true)
	web, err := kit.NewWeb(&kit.App{Endpoints: "127.0.0.1:1", Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	got := (&source{store: c, web: web}).slowCalls(t.Context())
	if len(got.rows) != 2 || fmt.Sprint(texts(got.rows[:1], 0)) == "" || got.rows[0].cells[2].text != "1.50s" || got.rows[0].cells[13].text != "abc" {
		t.Errorf("%+v", got.rows)
	}
	if all := strings.Join(got.errs, "\n"); !strings.Contains(all, "n2: ") || !strings.Contains(all, "403") || !strings.Contains(all, "n3: ") || strings.Contains(all, "h1") {
		t.Errorf("%s", all)
	}
}
