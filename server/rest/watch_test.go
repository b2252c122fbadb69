package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// watching is a running watch, and its output so far.
type watching struct {
	*httptest.ResponseRecorder
	mu   sync.Mutex
	text strings.Builder
	done chan struct{}
}

func (w *watching) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *watching) wrote() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (k *kit) watch(ctx context.Context, path string, headers ...string) *watching {
	w := &watching{ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	go func() {
		defer close(w.done)
		k.handler.ServeHTTP(w, r)
	}()
	return w
}

const opened = ": the watch is open\n\n"

func eventOf(seq, id, payload string) string {
	return "id: " + seq + "\nevent: entry\ndata: {\"id\":\"" + id + "\",\"seq\":" + seq +
		",\"at\":1,\"kind\":\"note\",\"payload\":" + payload + ",\"refs\":{}}\n\n"
}

func TestAWatchSendsWhatIsThereAndWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"a","at":1},{"id":"b","at":1,"payload":{"x": "<\u000a>", "n": 1.0}}]}`).ok(201)
		ctx, cancel := context.WithCancel(t.Context())
		w := k.watch(ctx, "/v1/threads/t/watch")
		synctest.Wait()
		want := opened + eventOf("0", "a", "{}") + eventOf("1", "b", `{"x":"<\u000a>","n":1.0}`)
		if got := w.wrote(); got != want {
			t.Fatalf("it wrote\n%s\nwant\n%s", got, want)
		}
		if got := w.Header().Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("it is %q", got)
		}
		k.call("POST", "/v1/threads/t/entries", `{"entries":{"id":"c","at":1}}`).ok(200)
		synctest.Wait()
		want += eventOf("2", "c", "{}")
		if got := w.wrote(); got != want {
			t.Fatalf("then it wrote\n%s\nwant\n%s", got, want)
		}
		k.call("DELETE", "/v1/threads/t", "").ok(204)
		<-w.done
		if got := w.wrote(); got != want+"event: deleted\ndata: {}\n\n" {
			t.Fatalf("at last it wrote\n%s", got)
		}
		cancel()
	})
}

func TestASilentWatchSendsAComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.call("POST", "/v1/threads/t/entries", `{}`).ok(201)
		ctx, cancel := context.WithCancel(t.Context())
		w := k.watch(ctx, "/v1/threads/t/watch")
		time.Sleep(46 * time.Second)
		synctest.Wait()
		if got, want := w.wrote(), opened+strings.Repeat(": still here\n\n", 3); got != want {
			t.Errorf("in 46 s it wrote %q", got)
		}
		cancel()
		<-w.done // if it still ran, the bubble would report it
	})
}

func TestAWatchResumesAfterTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"a","at":1},{"id":"b","at":1},{"id":"c","at":1}]}`).ok(201)
		for _, c := range []struct {
			path    string
			headers []string
			want    string
		}{
			{"/v1/threads/t/watch?from=2", nil, eventOf("2", "c", "{}")},
			{"/v1/threads/t/watch?from=0", []string{"Last-Event-ID: 1"}, eventOf("2", "c", "{}")},
			{"/v1/threads/t/watch", []string{"Last-Event-ID: 2"}, ""},
			{"/v1/threads/t/watch?scope=default&from=2", nil, eventOf("2", "c", "{}")},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			w := k.watch(ctx, c.path, c.headers...)
			synctest.Wait()
			if got := w.wrote(); got != opened+c.want {
				t.Errorf("%s %v wrote\n%s", c.path, c.headers, got)
			}
			cancel()
			<-w.done
		}
	})
	k := newKit(t)
	k.call("GET", "/v1/threads/t/watch?from=x", "").problem(400, "invalid")
	k.call("GET", "/v1/threads/t/watch", "", "Last-Event-ID: x").problem(400, "invalid")
	k.call("GET", "/v1/threads/t/watch", "", "Last-Event-ID: 18446744073709551615").problem(400, "invalid")
}

// A seq does not identify an incarnation of a thread: the incarnation does, or a rev below the seq.
func TestAWatchDoesNotGoOnInAnotherLife(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"a","at":1},{"id":"b","at":1},{"id":"c","at":1}]}`).ok(201)
	const path = "/v1/threads/t"
	life := fmt.Sprintf("%.0f", k.call("GET", path, "").ok(200)["incarnation"])
	k.call("DELETE", path, "").ok(204)
	k.call("POST", path+"/entries", `{"entries":[{"id":"x","at":1},{"id":"y","at":1}]}`).ok(201)
	const deleted = opened + "event: deleted\ndata: {}\n\n"
	for _, c := range []struct{ query, last string }{
		{"?incarnation=" + life, "0"},
		{"?incarnation=" + life + "&from=1", ""},
		{"", "2"},
	} {
		var headers []string
		if c.last != "" {
			headers = append(headers, "Last-Event-ID: "+c.last)
		}
		if got := k.call("GET", path+"/watch"+c.query, "", headers...); got.Body.String() != deleted {
			t.Errorf("%+v: it wrote\n%s", c, got.Body)
		}
	}
}

func TestAWatchBelowTheFloorSaysCompacted(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{},{}]}`).ok(201)
	k.call("POST", "/v1/threads/t/compact", `{"before_seq":2}`).ok(200)
	got := k.call("GET", "/v1/threads/t/watch", "")
	if want := opened + "event: compacted\ndata: {\"floor\":2}\n\n"; got.Body.String() != want {
		t.Errorf("it wrote %q", got.Body)
	}
}

func TestAWatchOfNoThreadIsAProblem(t *testing.T) {
	k := newKit(t)
	k.call("GET", "/v1/threads/t/watch", "").problem(404, "not_found")
	k.fake.readFault = agent.Errorf(agent.CodeUnavailable, "no leader")
	k.call("GET", "/v1/threads/t/watch", "").problem(503, "unavailable")
}

func TestAWatchThatBreaksSaysWhy(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{}`).ok(201)
	k.fake.onWatch = func(yield func(agent.Event, error) bool) {
		yield(agent.Event{}, agent.Errorf(agent.CodeUnavailable, "no leader"))
	}
	got := k.call("GET", "/v1/threads/t/watch", "")
	if !strings.Contains(got.Body.String(), "event: problem\ndata: {") || !strings.Contains(got.Body.String(), `"code":"unavailable"`) {
		t.Errorf("it wrote %q", got.Body)
	}
}

func TestHeadOfAWatchDoesNotStream(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":{}}`).ok(201)
	got := k.call("HEAD", "/v1/threads/t/watch", "")
	if got.Code != 200 || got.Body.Len() != 0 {
		t.Errorf("%d %q", got.Code, got.Body)
	}
}
