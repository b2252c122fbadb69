package httpclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/jepsen/httpclient"
	"dormouse/server/rest"
)

// followed is what a watch showed: the seqs or places of its events, its marks, and its end.
func followed(ctx context.Context, s agent.Service, w agent.Watch, most int) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for e, err := range s.Watch(ctx, w) {
		switch {
		case err != nil:
			all = append(all, string(agent.CodeOf(err)))
		case e.Kind == agent.EventChanges:
			for _, c := range e.Changes {
				all = append(all, fmt.Sprint(c.Place(), c.Path(), c.Deleted))
			}
		case e.Kind == agent.EventEntry:
			all = append(all, fmt.Sprint(e.Entry.Seq, string(e.Entry.Payload)))
		case e.Kind == agent.EventClaim:
			all = append(all, fmt.Sprint(e.Claim.Name, e.Claim.Holder, e.Claim.Epoch))
		default:
			all = append(all, fmt.Sprint(e.Kind, e.Floor))
		}
		if len(all) >= most {
			break
		}
	}
	return all
}

// cutter serves a store over HTTP, and breaks each stream after some bytes.
func cutter(t *testing.T, store agent.Service, after int64) *httptest.Server {
	t.Helper()
	handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&cut{ResponseWriter: w, left: after}, r)
	}))
	t.Cleanup(server.Close)
	return server
}

type cut struct {
	http.ResponseWriter
	left int64 // bytes of a stream until it breaks
}

func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cut) Write(b []byte) (int, error) {
	if c.Header().Get("Content-Type") == "text/event-stream" {
		if c.left -= int64(len(b)); c.left < 0 {
			_, _ = c.ResponseWriter.Write(b[:int64(len(b))+c.left])
			_ = http.NewResponseController(c.ResponseWriter).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	return c.ResponseWriter.Write(b)
}

func TestAWatchGoesOnWhereItBroke(t *testing.T) {
	store := memstore.New()
	put := func(ops ...agent.Op) {
		t.Helper()
		if _, err := store.Commit(t.Context(), agent.Commit{Scope: "s", Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		put(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(fmt.Sprintf(`{"n":%d}`, i))}}},
			&agent.PutValue{Key: fmt.Sprint("v", i), Bytes: []byte("v")})
	}
	put(&agent.DeleteValue{Key: "v0"}, &agent.TakeClaim{Claim: "c", Holder: "h"})
	server := cutter(t, store, 400)
	client := func(retries bool) *httpclient.Client {
		c := httpclient.New(httpclient.Options{URLs: func() []string { return []string{server.URL} }, ID: "c", Retries: retries, Transport: &http.Transport{}})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	for _, c := range []struct {
		w    agent.Watch
		most int
	}{
		{agent.Watch{Scope: "s", Thread: "t"}, 5},
		{agent.Watch{Scope: "s", Thread: "t", From: 3}, 2},
		{agent.Watch{Scope: "s", Changes: true, From: 1}, 12},
		{agent.Watch{Scope: "s", Changes: true, From: 2, Skip: 1, Prefix: "values/"}, 5},
		{agent.Watch{Scope: "s", Claim: "c"}, 1},
		{agent.Watch{Scope: "s", Thread: "none"}, 1},
	} {
		want := followed(t.Context(), store, c.w, c.most)
		if got := followed(t.Context(), client(true), c.w, c.most); fmt.Sprint(got) != fmt.Sprint(want) || len(want) != c.most {
			t.Errorf("%+v: got %v, want %v", c.w, got, want)
		}
	}
	bound := followed(t.Context(), client(false), agent.Watch{Scope: "s", Thread: "t"}, 9)
	if n := len(bound); n == 0 || n > 5 || bound[n-1] != string(agent.CodeUnavailable) {
		t.Errorf("a client of one node followed %v, and should end with unavailable", bound)
	}
	put(&agent.CompactThread{Thread: "t", BeforeSeq: 3})
	if got := followed(t.Context(), client(true), agent.Watch{Scope: "s", Thread: "t", From: 1}, 9); fmt.Sprint(got) != "[1 3]" {
		t.Errorf("below the floor: %v", got)
	}
}

func TestAWatchEndsWithItsThread(t *testing.T) {
	p := newPair(t)
	ops := []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{}`)}}}}
	if _, err := p.store.Commit(t.Context(), agent.Commit{Scope: "s", Ops: ops}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range p.client.Watch(t.Context(), agent.Watch{Scope: "s", Thread: "t"}) {
		got = append(got, fmt.Sprint(e.Kind, err))
		if len(got) == 1 { // deleted, and longer than before
			ops = append([]agent.Op{&agent.DeleteThread{Thread: "t"}}, ops[0], ops[0])
			if _, err := p.store.Commit(t.Context(), agent.Commit{Scope: "s", Ops: ops}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint([]string{fmt.Sprint(agent.EventEntry, nil), fmt.Sprint(agent.EventDeleted, nil)}) {
		t.Errorf("the watch showed %v", got)
	}
}

// host answers calls on instances.
type host struct {
	agent.Instances
	signals atomic.Int64
	keys    sync.Map // :: request id of a signal → true
}

func (h *host) Signal(_ context.Context, ref agent.InstanceRef, s agent.Signal) (agent.Reply, error) {
	h.keys.Store(s.Request, true)
	if h.signals.Add(1) == 1 && s.Type == "lost" {
		return agent.Reply{}, agent.Errorf(agent.CodeUnknown, "the owner is gone")
	}
	if s.Data == nil {
		s.Data = agent.JSON(`{}`)
	}
	return agent.Reply{Node: ref.Key, Epoch: 3, Rev: 4, Revision: 5, Durable: !s.Cast, Data: agent.JSON(`{"type":"` + s.Type + `","data":` + string(s.Data) + `}`)}, nil
}

func (*host) Lookup(_ context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	return agent.Instance{InstanceRef: ref, Partition: 7, Node: "n2", Epoch: 9, Status: agent.InstanceAwake, Attachments: 1, Mailbox: 2, IdleAt: 3, Revision: 4, Thread: "t", Rev: 5}, nil
}

func (*host) Attach(_ context.Context, ref agent.InstanceRef, a agent.Attach) (agent.Attached, error) {
	return agent.Attached{Instance: agent.Instance{InstanceRef: ref, Status: agent.InstanceAwake}, Attachment: a.Attachment, ExpiresAt: a.TTL.Milliseconds()}, nil
}

func (*host) Hibernate(context.Context, agent.InstanceRef) error {
	return agent.Errorf(agent.CodeNotFound, "it sleeps")
}

func TestInstancesSpeakTheAPI(t *testing.T) {
	h := &host{}
	handler, err := rest.New(memstore.New(), operator{}, rest.Options{Node: "n1", Instances: h})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	attempts := 0
	c := httpclient.New(httpclient.Options{
		URLs: func() []string { return []string{server.URL} }, ID: "c", Retries: true, Transport: &http.Transport{}, Attempted: func(context.Context) { attempts++ },
	})
	defer c.Close() //nolint:errcheck // there are no calls
	at, ref := c.Instances(), agent.InstanceRef{Scope: "s", Manager: "m/1", Key: "k/2"}
	want, _ := h.Lookup(t.Context(), ref)
	if got, err := at.Lookup(t.Context(), ref); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got, err := at.Attach(t.Context(), ref, agent.Attach{Attachment: "a", TTL: 5 * time.Second}); err != nil || got.Attachment != "a" || got.ExpiresAt != 5000 || got.Key != ref.Key {
		t.Errorf("attached %+v, %v", got, err)
	}
	if err := at.Hibernate(t.Context(), ref); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("hibernated: %v", err)
	}
	reply, err := at.Signal(t.Context(), ref, agent.Signal{Type: "x", Data: agent.JSON(`{"d":"<"}`), Request: agent.Request{Client: "c", Seq: 1}})
	if err != nil || reply.Node != "k/2" || reply.Epoch != 3 || reply.Rev != 4 || reply.Revision != 5 || !reply.Durable || string(reply.Data) != `{"type":"x","data":{"d":"<"}}` {
		t.Errorf("the reply is %+v, %v", reply, err)
	}
	// A signal is repeated under its request id, or under one of the client.
	for _, request := range []agent.Request{{}, {Client: "c", Seq: 2}} {
		h.signals.Store(0)
		h.keys.Clear()
		attempts = 0
		if _, err := at.Signal(t.Context(), ref, agent.Signal{Type: "lost", Request: request}); err != nil || attempts != 2 {
			t.Errorf("request %+v: %d attempts, %v", request, attempts, err)
		}
		keys := 0
		h.keys.Range(func(key, _ any) bool {
			keys++
			return key != agent.Request{}
		})
		if keys != 1 {
			t.Errorf("request %+v: sent under %d keys", request, keys)
		}
	}
}
