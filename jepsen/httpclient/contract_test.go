package httpclient_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/jepsen/httpclient"
	"dormouse/server/rest"
)

// operator is a node's operator that no call reaches.
type operator struct{ layout.Operator }

// TestTheClientSpeaksTheAPI makes every call of the client twice, so that it uses each
// form of the call, and compares what it returns with what the store itself returns.
func TestTheClientSpeaksTheAPI(t *testing.T) {
	store, direct := memstore.New(), memstore.New()
	handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	c := httpclient.New(httpclient.Options{URLs: func() []string { return []string{server.URL} }, ID: "c", Transport: &http.Transport{}})
	defer c.Close() //nolint:errcheck // there are no calls
	zero, one, stored, at := uint64(0), uint64(1), []byte("v"), int64(1_700_000_000_000)
	var missing []byte
	for _, op := range []agent.Op{
		&agent.PutScope{Policy: agent.Policy{ThreadsMax: 9}},
		&agent.PutValue{Key: "a/1", Bytes: stored, IfBytes: &missing},
		&agent.PutValue{Key: "a/1", Bytes: stored, IfBytes: &stored},
		&agent.PutValue{Key: "a/1", Bytes: []byte("<é>"), IfRevision: &one, ContentType: "text/plain", IfIncarnation: 1},
		&agent.PutValue{Key: "b", Bytes: stored, IfRevision: &zero},
		&agent.DeleteValue{Key: "b", IfBytes: &stored},
		&agent.AppendThread{Thread: "t", ExpectedRev: &zero, Entries: []agent.Draft{{ID: "x", At: &at, Kind: "step", Payload: agent.JSON(`{"a":"<é>"}`), Refs: agent.JSON(`{"r":1}`)}, {At: &at, Payload: agent.JSON(`{}`)}}},
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "x", At: &at, Kind: "step", Payload: agent.JSON(`{"a":"<é>"}`), Refs: agent.JSON(`{"r":1}`)}}},
		&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 1}, Lifecycle: "idle"},
		&agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"m":"<2>"}`)},
		&agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"m":null}`), IfRevision: &one},
		&agent.CompactThread{Thread: "t", BeforeSeq: 1},
		&agent.TakeClaim{Claim: "l", Holder: "h"},
		&agent.RenewClaim{Claim: "l", Holder: "h", Epoch: 1},
		&agent.TakeClaim{Claim: "m/é", Holder: "h", TTL: time.Minute},
		&agent.ReleaseClaim{Claim: "l", Holder: "h", Epoch: 1, To: "i", TTL: time.Minute},
		&agent.PutValue{Key: "d/1", Bytes: stored},
		&agent.DeleteValue{Key: "d/1", IfIncarnation: 9},
		&agent.DeleteValue{Key: "d/1", IfRevision: &one},
		&agent.DeleteValue{Key: "d/1", Seal: time.Minute},
		&agent.PutValue{Key: "d/1", Bytes: stored},
		&agent.DeleteCheckpoint{Key: "c", IfRevision: &zero},
		&agent.DeleteThread{Thread: "t", IfIncarnation: 3},
		&agent.DeleteCheckpoint{Key: "none"},
		&agent.DeleteThread{Thread: "none"},
	} {
		for range 2 {
			got, gotErr := c.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{op}})
			want, err := direct.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{op}})
			if d, is := first(got).(*agent.DeleteResult); is && d.Incarnation == httpclient.IncarnationUntold {
				want.Results = got.Results
			}
			if told(got, gotErr) != told(want, err) {
				t.Errorf("%T: got %s, want %s", op, told(got, gotErr), told(want, err))
			}
		}
	}
	for _, r := range []agent.Read{
		&agent.GetValue{Key: "a/1"}, &agent.ListValues{}, &agent.GetCheckpoint{Key: "c"}, &agent.CheckpointHistory{Key: "c"}, &agent.GetThread{Thread: "t"},
		&agent.LoadEntries{Thread: "t"}, &agent.LoadEntries{Thread: "t", Tail: 1}, &agent.Thaw{Key: "c"}, &agent.GetClaim{Claim: "l"}, &agent.GetValue{Key: "none"},
	} {
		compare(t, c, store, r)
		compare(t, c, store, r)
	}
}

func first(r agent.Result) agent.OpResult {
	if len(r.Results) == 0 {
		return nil
	}
	return r.Results[0]
}

// told returns what workloads use of the result of one op.
func told(r agent.Result, err error) string {
	if err != nil {
		var e *agent.Error
		errors.As(err, &e)
		return fmt.Sprint(e.Code, e.Rev, e.Head, e.Revision, e.Seq, e.Incarnation, e.Floor, e.Epoch, e.Holder)
	}
	switch one := r.Results[0].(type) {
	case *agent.ValueResult:
		return fmt.Sprint(r.Index, one.Key, one.Incarnation, one.Revision, one.Skipped)
	case *agent.CheckpointResult:
		return fmt.Sprint(r.Index, one.Key, one.Incarnation, one.Revision, one.Skipped, one.Thread)
	case *agent.ThreadResult:
		text := fmt.Sprint(r.Index, one.Thread.ID, one.Thread.Incarnation, one.Thread.Rev)
		for _, e := range one.Entries {
			text += fmt.Sprint(" ", e.ID, e.Seq, e.Skipped)
		}
		return text
	case *agent.ClaimResult:
		return fmt.Sprint(r.Index, one.Claim.Name, one.Claim.Holder, one.Claim.Epoch, one.Claim.TTL)
	case *agent.DeleteResult:
		return fmt.Sprint(r.Index, *one)
	case *agent.ScopeResult:
		return fmt.Sprint(r.Index, one.Scope.Name, one.Scope.Threads)
	default:
		return fmt.Sprintf("%T", one)
	}
}

// bare removes what a call of the read alone does not tell.
func bare(found agent.Found) {
	switch f := found.(type) {
	case *agent.Value:
		*f = agent.Value{Key: f.Key, Incarnation: f.Incarnation, Revision: f.Revision, ContentType: cmp.Or(f.ContentType, agent.DefaultContentType), Bytes: f.Bytes}
	case *agent.Entries:
		f.Thread = agent.Thread{ID: f.Thread.ID, Incarnation: f.Thread.Incarnation, Rev: f.Thread.Rev, Head: f.Thread.Head, Floor: f.Thread.Floor}
	}
}

// compare makes a read with the client and directly.
func compare(t *testing.T, c, store agent.Service, r agent.Read) {
	t.Helper()
	ask := func(s agent.Service) (agent.Answers, error) {
		return s.Read(context.Background(), agent.Reads{Scope: "s", Reads: []agent.Read{r}})
	}
	got, gotErr := ask(c)
	want, err := ask(store)
	if err != nil {
		t.Fatal(err)
	}
	if refusal := want.Answers[0].Err; refusal != nil {
		if code := agent.CodeOf(gotErr); gotErr != nil && code != refusal.Code || gotErr == nil && (got.Answers[0].Err == nil || got.Answers[0].Err.Code != refusal.Code) {
			t.Errorf("%T: got %v, %v, want %v", r, got, gotErr, refusal)
		}
		return
	}
	if gotErr != nil {
		t.Errorf("%T: %v", r, gotErr)
		return
	}
	bare(got.Answers[0].Found)
	bare(want.Answers[0].Found)
	if got.Index != want.Index || len(got.Answers) != 1 || !reflect.DeepEqual(got.Answers[0].Found, want.Answers[0].Found) {
		t.Errorf("%T: got %+v at %d, want %+v at %d", r, got.Answers[0].Found, got.Index, want.Answers[0].Found, want.Index)
	}
}
