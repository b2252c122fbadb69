package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// refusing is a service whose commits fail while it is down.
type refusing struct {
	agent.Service

	down bool
}

func (r *refusing) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if r.down {
		return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "there is no leader")
	}
	return r.Service.Commit(ctx, c)
}

// The SDK sends and counts an event also if it could not be kept. A client that resumes after a later event gets all
// that came after it, and nothing else.
func TestAnEventThatWasNotKeptMovesNoOther(t *testing.T) {
	service := &refusing{Service: memstore.New()}
	e := newEvents(store{service, "acme"}, func(string) bool { return true })
	if err := e.Open(t.Context(), "s", listenStream); err != nil {
		t.Fatal(err)
	}
	const lost = agent.CommitEntriesMax + 5
	for i := range lost + 4 {
		service.down = 1 <= i && i <= lost
		if err := e.Append(t.Context(), "s", listenStream, []byte(fmt.Sprint(i))); (err != nil) != service.down {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	for _, after := range []int{-1, 0, lost, lost + 1, lost + 3} {
		var want []string
		for i := after + 1; i < lost+4; i++ {
			if i == 0 || i > lost {
				want = append(want, fmt.Sprint(i))
			}
		}
		var got []string
		for data, err := range e.After(t.Context(), "s", listenStream, after) {
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 0 { // the SDK skips empty ones
				got = append(got, string(data))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after event %d: %v, want %v", after, got, want)
		}
	}
	if len(e.lost) != 0 {
		t.Errorf("%d streams are remembered", len(e.lost))
	}
}

// A process knows a bounded number of streams with lost events.
func TestTheStreamsWithLostEventsAreBounded(t *testing.T) {
	e := newEvents(store{&refusing{down: true}, "acme"}, nil)
	for i := range lostStreamsMax + 5 {
		if err := e.Append(t.Context(), "s", fmt.Sprint(i), nil); err == nil {
			t.Fatal("an event was kept")
		}
		if want := min(i+1, lostStreamsMax); len(e.lost) != want {
			t.Fatalf("after %d streams %d are known, want %d", i+1, len(e.lost), want)
		}
	}
	if e.lost[streamThread("s", fmt.Sprint(lostStreamsMax+4))] != 1 {
		t.Error("the newest one is not known")
	}
}

// The stream that a client listens on lasts as long as its session, also without an event.
func TestAQuietStreamLastsAsLongAsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store{memstore.New(), "acme"}
		h := startHandler(t, s)
		session := ask(t, h, "", initialize).Header.Get(headerSession)
		kept := newEvents(s, h.ended)
		if err := kept.Open(t.Context(), session, listenStream); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(3 * time.Hour)
			if got := ask(t, h, session, ping); got.StatusCode != http.StatusOK {
				t.Fatal(got.Status)
			}
		}
		if _, err := find[*agent.Thread](t.Context(), s, &agent.GetThread{Thread: streamThread(session, listenStream)}); err != nil {
			t.Errorf("the stream of a session that is used: %v", err)
		}
		time.Sleep(2 * sessionTTL) // the session ends
	})
}

// What the parameters of a session may have is bounded, since dormctl keeps them with its own rights.
func TestLongParametersAreRefused(t *testing.T) {
	service := memstore.New()
	p := startProcess(t, service)
	long := strings.Replace(initialize, `"name":"`, `"name":"`+strings.Repeat("x", parametersBytesMax), 1)
	all := eventsOf(t, p.message(t, "", long), "")
	if got := all[len(all)-1].data; !strings.Contains(got, "at most 65536") {
		t.Error(got)
	}
	found, err := find[*agent.ValueList](t.Context(), store{service, "acme"}, &agent.ListValues{})
	if err != nil || len(found.Items) != 0 {
		t.Errorf("%d values were stored: %v", len(found.Items), err)
	}
}
