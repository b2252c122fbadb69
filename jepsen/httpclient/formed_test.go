package httpclient_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/jepsen/httpclient"
	"dormouse/server/rest"
)

// pair is a client of a server over one store, and another store that gets the same calls directly.
type pair struct {
	client *httpclient.Client
	store  agent.Service
	direct agent.Service
	lease  string // the newest one of a session
}

func newPair(t *testing.T) *pair {
	t.Helper()
	store := memstore.New()
	handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := httpclient.New(httpclient.Options{URLs: func() []string { return []string{server.URL} }, ID: "c", Transport: &http.Transport{}})
	t.Cleanup(func() { _ = c.Close() })
	return &pair{client: c, store: store, direct: memstore.New()}
}

// same makes a commit with the client and directly, and compares the results without the times. It returns
// the code of the refusal, if both refuse it.
func (p *pair) same(t *testing.T, of func(lease string) agent.Op) agent.Code {
	t.Helper()
	op := func() agent.Op { return of(p.lease) } // a store may keep and change what it was given
	got, gotErr := p.client.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{op()}})
	want, err := p.direct.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{op()}})
	if agent.CodeOf(gotErr) != agent.CodeOf(err) {
		t.Errorf("%T: got %v, want %v", op(), gotErr, err)
		return agent.CodeOf(err)
	}
	if d, is := first(got).(*agent.DeleteResult); is && d.Incarnation == httpclient.IncarnationUntold {
		want.Results = got.Results
	}
	if err == nil && (got.Index != want.Index || timeless(t, got.Results[0]) != timeless(t, want.Results[0])) {
		t.Errorf("%T: got %s at %d, want %s at %d", op(), timeless(t, got.Results[0]), got.Index, timeless(t, want.Results[0]), want.Index)
	}
	if err == nil {
		if r, is := want.Results[0].(*agent.SessionResult); is && r.Session.Lease != nil {
			p.lease = r.Session.Lease.LeaseID
		}
	}
	return agent.CodeOf(err)
}

// timeless returns a result as text, without its times, without the hashes, which cover times, and
// without what some documents leave out.
func timeless(t *testing.T, result agent.OpResult) string {
	t.Helper()
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(at any) {
		switch at := at.(type) {
		case map[string]any:
			maps.DeleteFunc(at, func(name string, value any) bool {
				return strings.HasSuffix(name, "At") || name == "At" || name == "QueueMax" || name == "SchemaVersion" || name == "Thread" && value != nil && reflect.TypeOf(value).Kind() == reflect.String ||
					name == "Checkpoint" || name == "Hash" || name == "Head" || name == "Metadata" || name == "Untracked" || name == "SealedUntil"
			})
			for _, inner := range at {
				strip(inner)
			}
		case []any:
			for _, inner := range at {
				strip(inner)
			}
		}
	}
	strip(doc)
	return fmt.Sprint(doc)
}

func TestFormsOfOps(t *testing.T) {
	one := uint64(1)
	at := time.Now().Add(time.Hour).UnixMilli()
	for _, c := range []struct {
		name    string
		ops     []func(lease string) agent.Op
		refused map[int]agent.Code // by place; the others are done
	}{
		{"turns", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.PutSession{Session: "x", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t", Busy: agent.BusyEnqueue, QueueMax: 3, SchemaVersion: 2, Checkpoint: "k"}, Spec: agent.JSON(`{"<":1}`), Metadata: agent.JSON(`{"m":1}`), Environment: agent.JSON(`{"e":1}`)}
			},
			func(string) agent.Op {
				return &agent.ClaimSession{Session: "x", Owner: "o", TTL: time.Second, Request: &agent.SessionRequest{ID: "r1", Input: agent.JSON(`"in"`), Metadata: agent.JSON(`{"q":1}`)}}
			},
			func(string) agent.Op {
				return &agent.ClaimSession{Session: "x", Owner: "o2", Request: &agent.SessionRequest{ID: "r2"}}
			},
			func(lease string) agent.Op {
				return &agent.CheckpointSession{Session: "x", LeaseID: lease, Owner: "o", Snapshot: agent.SessionSnapshot{ID: "s1", Cursor: agent.Cursor{Phase: agent.PhaseWait, LoopIndex: 2, Metadata: agent.JSON(`{}`)}, TurnState: agent.JSON(`{"t":1}`), Metadata: agent.JSON(`{"m":2}`)}}
			},
			func(lease string) agent.Op {
				return &agent.RenewSession{Session: "x", LeaseID: lease, Owner: "o", TTL: 2 * time.Second}
			},
			func(lease string) agent.Op {
				return &agent.CommitSession{
					Session: "x", LeaseID: lease, Owner: "o", RequestID: "r1", Agent: "a", Status: agent.SessionWaiting, Environment: agent.JSON(`{"e":2}`),
					Snapshots: []agent.SessionSnapshot{{ID: "s2", Cursor: agent.Cursor{Phase: agent.PhaseReview}}},
					Reviews:   []agent.ReviewDraft{{ID: "v", InterruptID: "i", Operation: "act", Arguments: agent.JSON(`{"n":1}`), Reason: "why", Assignee: "p", EscalateTo: "q", TTL: time.Hour, EscalateAfter: time.Minute, Metadata: agent.JSON(`{"r":1}`)}},
				}
			},
			func(string) agent.Op {
				return &agent.DecideReview{Review: "v", Decision: agent.DecideEdit, By: "me", Arguments: agent.JSON(`{"n":2}`), Note: "n", InterruptID: "i"}
			},
			func(string) agent.Op { return &agent.DecideReview{Review: "v", Decision: agent.DecideDeny, By: "me"} },
			func(string) agent.Op { return &agent.ResumeSession{Session: "x", Owner: "o3", TTL: time.Minute} },
			func(lease string) agent.Op {
				return &agent.CommitSession{Session: "x", LeaseID: lease, Owner: "o3", Status: agent.SessionFinished, Result: agent.JSON(`"done"`), Conversation: &agent.Conversation{AgentState: agent.JSON(`{"by":"x"}`), ContinuationRevision: 1, TurnCount: 1, LastCompletedRequestID: "r1", ContextState: agent.JSON(`{"c":1}`)}}
			},
			func(string) agent.Op { return &agent.RecoverSession{Session: "x", Owner: "o4"} },
			func(string) agent.Op { return &agent.ForkSession{Session: "x", NewSession: "y", Snapshot: "s2"} },
			func(string) agent.Op { return &agent.ForkSession{Session: "x", NewSession: "y"} },
			func(string) agent.Op { return &agent.DeleteSession{Session: "y", IfRevision: &one, IfIncarnation: 9} },
			func(string) agent.Op { return &agent.DeleteSession{Session: "y", Seal: time.Second} },
		}, map[int]agent.Code{7: agent.CodeReviewDecided, 10: agent.CodeSessionNotRecoverable, 12: agent.CodeAlreadyExists, 13: agent.CodeDeleted}},
		{"memories", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.WriteMemory{Agent: "a", ID: "m", Session: "x", Class: agent.MemorySemantic, Kind: "k", Content: "<é>", Data: agent.JSON(`{"d":1}`), Tags: []string{"t", "u"}, Source: "s", Metadata: agent.JSON(`{"m":1}`), Embedding: []float32{0.1, -3}, ObservedAt: &at, ExpiresAt: at}
			},
			func(string) agent.Op {
				return &agent.WriteMemory{Agent: "a", Content: "derived", TTL: time.Hour, Embedding: []float32{1, 2}}
			},
			func(string) agent.Op {
				return &agent.WriteMemory{Agent: "a", ID: "m", Content: "new", IfRevision: &one, IfIncarnation: 7}
			},
			func(string) agent.Op {
				return &agent.DeleteMemory{Agent: "a", ID: "m", IfRevision: &one, Seal: time.Second}
			},
		}, map[int]agent.Code{2: agent.CodeDeleted}},
		{"instances", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.PutManager{Manager: agent.Manager{Name: "d", Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: 300 * time.Millisecond, Durability: agent.DurabilityIdle, Version: 2, MailboxMax: 5, AwakeMax: 7, SignalTTL: time.Second, AttachTTL: time.Minute, Untracked: true, SkipsPersist: []string{"f"}, Metadata: agent.JSON(`{"m":1}`)}}
			},
			func(string) agent.Op {
				return &agent.PutTimer{Timer: agent.Timer{Manager: "d", Key: "k", ID: "t", Next: at, Type: "append", Data: agent.JSON(`{"a":1}`)}}
			},
			func(string) agent.Op {
				return &agent.PutTimer{Timer: agent.Timer{Manager: "d", Key: "k", ID: "u", Cron: "* * * * * *", TimeZone: "Europe/Berlin", Missed: agent.MissedCatchUp, CatchUp: 3}}
			},
			func(string) agent.Op { return &agent.DeleteTimer{Manager: "d", Key: "k", ID: "t"} },
		}, nil},
		{"conversations", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: "c", Agent: "a", Owner: "o"}, Messages: []agent.MessageDraft{{ID: "1", Role: agent.RoleUser, Content: agent.JSON(`{"t":"<"}`)}, {Role: agent.RoleAssistant, ToolCall: "w", Type: "tool_call", Synthetic: true}}}
			},
			func(string) agent.Op {
				return &agent.PendMessage{ConversationRef: agent.ConversationRef{ID: "c"}, Message: agent.JSON(`{"p":1}`)}
			},
			func(string) agent.Op {
				return &agent.SaveConversation{ConversationRef: agent.ConversationRef{ID: "c"}, Lifecycle: agent.LifecycleInterrupt, State: agent.JSON(`{"version":1,"state":{}}`), Title: "T", Consumed: 1}
			},
			func(string) agent.Op {
				return &agent.SaveConversation{ConversationRef: agent.ConversationRef{ID: "c"}, Revision: 7, Lifecycle: agent.LifecycleCompletion, State: agent.JSON(`{"version":1,"state":{}}`)}
			},
		}, map[int]agent.Code{3: agent.CodeRevisionMismatch}},
		{"tokens", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.PutToken{Hash: agent.HashToken("secret"), Principal: "p", TTL: time.Hour, Grants: []agent.Grant{{Scopes: []string{"s", "t-*"}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbWrite}}}}
			},
			func(string) agent.Op { return &agent.RevokeToken{ID: agent.HashToken("secret").TokenID()} },
		}, nil},
		{"forks and erasures", []func(lease string) agent.Op{
			func(string) agent.Op {
				return &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "e", Payload: agent.JSON(`{}`)}}}
			},
			func(string) agent.Op { return &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: &one} },
			func(string) agent.Op { return &agent.ForkThread{Thread: "t", NewThread: "f"} },
			func(string) agent.Op { return &agent.PutCheckpoint{Key: "a", State: agent.JSON(`{}`)} },
			func(string) agent.Op { return &agent.EraseAgent{Agent: "a", Seal: time.Second} },
			func(string) agent.Op { return &agent.IndexMetadata{Keys: []string{"g"}} },
		}, map[int]agent.Code{2: agent.CodeAlreadyExists}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, shift := range []int{0, 1} { // so that each op goes by its own call and as a commit
				p := newPair(t)
				if shift == 1 {
					_, _ = p.client.Read(t.Context(), agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetScope{}}})
				}
				for i, op := range c.ops {
					if code := p.same(t, op); code != c.refused[i] {
						t.Errorf("%d: %T: %q, want %q", i, op(""), code, c.refused[i])
					}
				}
			}
		})
	}
}

func TestFormsOfReads(t *testing.T) {
	p := newPair(t)
	at := time.Now().Add(time.Hour).UnixMilli()
	for _, op := range []agent.Op{
		&agent.PutSession{Session: "x", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t"}},
		&agent.ClaimSession{Session: "x", Owner: "o", Request: &agent.SessionRequest{ID: "r", Input: agent.JSON(`1`), Metadata: agent.JSON(`{"q":1}`)}},
		&agent.CommitSession{Session: "x", LeaseID: agent.LeaseID(2), Owner: "o", Status: agent.SessionWaiting, Snapshots: []agent.SessionSnapshot{{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseReview, Metadata: agent.JSON(`{"c":1}`)}, TurnState: agent.JSON(`{"s":1}`), Metadata: agent.JSON(`{"m":1}`)}}, Reviews: []agent.ReviewDraft{{ID: "v", Operation: "act", TTL: time.Hour, EscalateAfter: time.Minute, EscalateTo: "e"}}},
		&agent.WriteMemory{Agent: "a", ID: "m", Session: "x", Content: "green tea", Tags: []string{"t"}, Embedding: []float32{1, 2}, ExpiresAt: at},
		&agent.WriteMemory{Agent: "b", ID: "n", Content: "black tea", Embedding: []float32{2, 1}},
		&agent.PutManager{Manager: agent.Manager{Name: "d", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
		&agent.PutTimer{Timer: agent.Timer{Manager: "d", Key: "k", ID: "t", Next: at}},
		&agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: "c"}, Messages: []agent.MessageDraft{{ID: "1", Role: agent.RoleUser}, {ID: "2", Role: agent.RoleUser}}},
		&agent.SaveConversation{ConversationRef: agent.ConversationRef{ID: "c"}, Lifecycle: agent.LifecycleInterrupt, State: agent.JSON(`{"version":1,"state":{}}`)},
		&agent.PendMessage{ConversationRef: agent.ConversationRef{ID: "c"}, Message: agent.JSON(`{"p":1}`)},
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{}`)}}},
		&agent.ForkThread{Thread: "t", NewThread: "f"},
		&agent.PutCheckpoint{Key: "gone", State: agent.JSON(`{}`)},
		&agent.EraseAgent{Agent: "gone"},
	} {
		if _, err := p.store.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{op}}); err != nil {
			t.Fatalf("%T: %v", op, err)
		}
	}
	for _, r := range []agent.Read{
		&agent.GetReview{Review: "v"}, &agent.GetReview{Review: "w"}, &agent.ListReviews{Session: "x"},
		&agent.GetErasure{Agent: "gone"}, &agent.GetErasure{Agent: "a"}, &agent.GetMemory{Agent: "a", ID: "m"}, &agent.ListMemories{Agent: "a"},
		&agent.ListMemories{Page: agent.Page{Limit: 1}}, &agent.ListTimers{Manager: "d", Key: "k"}, &agent.GetConversation{ConversationRef: agent.ConversationRef{ID: "c"}},
		&agent.ListMessages{ConversationRef: agent.ConversationRef{ID: "c"}, Tail: 1}, &agent.ListThreads{Page: agent.Page{Prefix: "f"}},
		&agent.ListThreads{Page: agent.Page{Order: agent.Descending, After: "t"}}, &agent.ListTimers{Manager: "d"}, &agent.ListTimers{Manager: "no"}, &agent.CheckpointHistory{Key: "no"},
		&agent.LoadEntries{Thread: "f"},
		&agent.Recall{Agent: "a", Within: agent.WithinAll, Mode: agent.ModeText, Query: "tea", Limit: 3, Filter: agent.MemoryFilter{TagsAny: []string{"t"}}},
		&agent.Recall{Agent: "a", Session: "x", Mode: agent.ModeVector, Embedding: []float32{1, 0}},
		&agent.Recall{Agent: "a", Mode: agent.ModeQuery, Ascending: true, Filter: agent.MemoryFilter{Contains: "TEA"}},
	} {
		compare(t, p.client, p.store, r)
		compare(t, p.client, p.store, r)
	}
	sessions(t, p)
}

// sessions compares a whole session, and a list without the settings, which rows of lists lack.
func sessions(t *testing.T, p *pair) {
	t.Helper()
	read := func(s agent.Service, r agent.Read) agent.Found {
		answers, err := s.Read(t.Context(), agent.Reads{Scope: "s", Reads: []agent.Read{r}})
		if err != nil {
			t.Fatal(err)
		}
		if list, is := answers.Answers[0].Found.(*agent.SessionList); is {
			for i := range list.Items {
				list.Items[i].SessionSettings = agent.SessionSettings{}
			}
		}
		return answers.Answers[0].Found
	}
	for _, r := range []agent.Read{&agent.GetSession{Session: "x"}, &agent.ListSessions{Agent: "a"}, &agent.ListSessions{Owner: "o"}, &agent.ListSessions{Recoverable: true}} {
		want := read(p.store, r)
		for range 2 {
			if got := read(p.client, r); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		}
	}
}
