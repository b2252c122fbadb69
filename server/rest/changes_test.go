package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/node/nodetest"
)

// feed makes the fake yield events to all watchers.
func (k *kit) feed(events ...agent.Event) {
	k.fake.onWatch = func(yield func(agent.Event, error) bool) {
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}

func TestTheFeedSendsChanges(t *testing.T) {
	k := newKit(t)
	k.feed(
		agent.Event{Kind: agent.EventChanges, Through: 56},
		agent.Event{Kind: agent.EventChanges, Through: 56, Changes: []agent.Changed{
			{Index: 57, Time: 9, Kind: agent.ChangedThread, Key: "t/1"},
			{Index: 57, Ordinal: 1, Time: 9, Kind: agent.ChangedMemory, Agent: "anna", Key: "m", Revision: 2},
		}},
		agent.Event{Kind: agent.EventChanges, Through: 60, Changes: []agent.Changed{
			{Index: 57, Ordinal: 4, Time: 9, Kind: agent.ChangedClaim, Key: "c", Revision: 3},
			{Index: 59, Time: 10, Kind: agent.ChangedReview, Key: "r", Status: "pending"},
			{Index: 59, Ordinal: 1, Time: 10, Kind: agent.ChangedSession, Key: "s", Revision: 4, Status: "waiting"},
			{Index: 60, Time: 11, Kind: agent.ChangedValue, Key: "v", Deleted: true},
			{Index: 60, Ordinal: 1, Time: 11, Kind: agent.ChangedMessage, Conversation: "c", Key: "m", Revision: 2},
			{Index: 60, Ordinal: 2, Time: 11, Kind: agent.ChangedTimer, Manager: "m", Instance: "i", Key: "t", Revision: 3, Status: "parked"},
		}},
		agent.Event{Kind: agent.EventCompacted, Floor: 70},
	)
	got := k.call("GET", "/v1/changes", "")
	want := opened + "id: 56\n\n" + `id: 57.0
event: change
data: {"index":57,"ordinal":0,"time":9,"kind":"threads","key":"t/1","rev":0}

id: 57.1
event: change
data: {"index":57,"ordinal":1,"time":9,"kind":"memory","agent":"anna","key":"m","revision":2}

id: 57.4
event: change
data: {"index":57,"ordinal":4,"time":9,"kind":"claims","key":"c","epoch":3}

id: 59.0
event: change
data: {"index":59,"ordinal":0,"time":10,"kind":"reviews","key":"r","status":"pending"}

id: 59.1
event: change
data: {"index":59,"ordinal":1,"time":10,"kind":"sessions","key":"s","revision":4,"status":"waiting"}

id: 60.0
event: change
data: {"index":60,"ordinal":0,"time":11,"kind":"values","key":"v","deleted":true}

id: 60.1
event: change
data: {"index":60,"ordinal":1,"time":11,"kind":"messages","conversation":"c","key":"m","revision":2}

id: 60.2
event: change
data: {"index":60,"ordinal":2,"time":11,"kind":"timers","manager":"m","instance":"i","key":"t","revision":3,"status":"parked"}

id: 60

event: compacted
data: {"floor":70}

`
	if got.Code != 200 || got.Body.String() != want {
		t.Errorf("%d\n%s\nwant\n%s", got.Code, got.Body, want)
	}
}

func TestTheFeedGoesOnAfterTheLastEvent(t *testing.T) {
	k := newKit(t)
	k.feed(agent.Event{Kind: agent.EventChanges})
	for _, c := range []struct {
		query string
		last  string
		want  agent.Watch
	}{
		{"", "", agent.Watch{}},
		{"?from_index=7&prefix=threads/", "", agent.Watch{From: 7, Prefix: "threads/"}},
		{"?from_index=7&prefix=x%2Fy", "57.3", agent.Watch{From: 57, Skip: 4, Prefix: "x/y"}},
		{"", "57.0", agent.Watch{From: 57, Skip: 1}},
		{"?from_index=7", "57", agent.Watch{From: 58}},
		{"", "0", agent.Watch{From: 1}},
	} {
		headers := []string{"Dormouse-Scope: acme"}
		if c.last != "" {
			headers = append(headers, "Last-Event-ID: "+c.last)
		}
		if got := k.call("GET", "/v1/changes"+c.query, "", headers...); got.Code != 200 {
			t.Errorf("%+v: %d %s", c, got.Code, got.Body)
		}
		c.want.Scope, c.want.Changes = "acme", true
		if k.fake.lastWatch != c.want {
			t.Errorf("%q after %q asks for %+v", c.query, c.last, k.fake.lastWatch)
		}
	}
	k.call("GET", "/v1/changes?from_index=x", "").problem(400, "invalid")
	for _, unread := range []string{"stale=true", "min_index=5"} { // a feed names its place in the log instead
		k.call("GET", "/v1/changes?"+unread, "").problem(400, "invalid")
	}
	for _, last := range []string{"x", "57.", "57.x", ".3", "1.2.3", "-1", "18446744073709551615", "1.18446744073709551615"} {
		k.call("GET", "/v1/changes", "", "Last-Event-ID: "+last).problem(400, "invalid")
	}
}

func TestAFeedThatCannotBeginIsAProblem(t *testing.T) {
	k := newKit(t)
	k.feed(agent.Event{Kind: agent.EventCompacted, Floor: 70})
	if got := k.call("GET", "/v1/changes?from_index=3", "").problem(410, "compacted"); got["floor"] != float64(70) {
		t.Errorf("its floor is %v", got["floor"])
	}
	k.feed(agent.Event{Kind: agent.EventDeleted})
	k.call("GET", "/v1/changes?from_index=3", "").problem(410, "deleted")
	k.feed()
	k.call("GET", "/v1/changes", "").problem(503, "unavailable")
	for code, status := range map[agent.Code]int{agent.CodeInvalid: 400, agent.CodeUnavailable: 503} {
		k.fake.onWatch = func(yield func(agent.Event, error) bool) { yield(agent.Event{}, agent.Errorf(code, "no")) }
		k.call("GET", "/v1/changes", "").problem(status, string(code))
	}
}

// listen reads n changes of a node's feed and disconnects; next is the id from which a browser
// would continue.
func listen(t *testing.T, address, last string, n int) (paths []string, next string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/v1/changes?scope=default&prefix=values/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	next = last
	for lines := bufio.NewScanner(response.Body); (next == "" || len(paths) < n) && lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			next = id
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			_, key, _ := strings.Cut(data, `"key":"`)
			paths = append(paths, key[:strings.IndexByte(key, '"')])
		}
	}
	return paths, next
}

// A client that disconnects within an index, and reconnects with the last id, misses nothing and
// gets nothing twice.
func TestTheFeedOfANodeIsResumed(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	for _, err := range n.Changes(t.Context(), agent.Watch{From: 1}) { // waits until changes are recorded
		if err != nil && agent.CodeOf(err) != agent.CodeCompacted {
			t.Fatal(err)
		}
		break
	}
	_, last := listen(t, n.HTTPAddr(), "", 0)
	var want, got []string
	for i := range 4 {
		commit := agent.Commit{}
		for j := range 3 {
			key := fmt.Sprint(i, "-", j)
			want = append(want, key)
			commit.Ops = append(commit.Ops, &agent.PutValue{Key: key}, &agent.AppendThread{Thread: "t"})
		}
		if _, err := n.Commit(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{1, 1, 3, 2, 5} {
		var some []string
		some, last = listen(t, n.HTTPAddr(), last, at)
		got = append(got, some...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
}
