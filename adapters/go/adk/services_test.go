package adk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
	"google.golang.org/genai"

	"dormouse/adapters/go/adk"
	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/agent/memstore"
	"dormouse/sdk/go/client"
)

// dial returns a client of the first node of DORMOUSE_ENDPOINTS only, which
// internal/withcluster makes a follower, in a scope of its own.
func dial(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{Scope: "adk-" + uuid.NewString(), Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestSessionSuite(t *testing.T) {
	sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
		t.Helper()
		return adk.NewSessions(dial(t), "")
	})
}

func create(t *testing.T, s *adk.Sessions, id string, state map[string]any) session.Session {
	t.Helper()
	r, err := s.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "ada", SessionID: id, State: state})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session
}

func get(t *testing.T, s *adk.Sessions, id string) session.Session {
	t.Helper()
	r, err := s.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: id})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session
}

// said returns an event with a text and a change of state.
func said(id, text string, delta map[string]any) *session.Event {
	e := &session.Event{ID: id, Author: "user", InvocationID: "i", Timestamp: time.Now(), Actions: session.EventActions{StateDelta: delta}}
	e.Content = genai.NewContentFromText(text, genai.RoleUser)
	return e
}

func TestAStaleWriterIsRefused(t *testing.T) {
	s, ctx := adk.NewSessions(dial(t), ""), t.Context()
	create(t, s, "s", nil)
	first, second := get(t, s, "s"), get(t, s, "s")
	if err := s.AppendEvent(ctx, first, said("1", "one", map[string]any{"turn": "first"})); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(ctx, second, said("2", "two", map[string]any{"turn": "second", "app:k": 1})); !errors.Is(err, adk.ErrStaleSession) || agent.OutcomeOf(err) != agent.Refused {
		t.Errorf("a stale writer: %v", err)
	}
	if err := s.AppendEvent(ctx, first, said("3", "three", nil)); err != nil { // its session has its own event
		t.Errorf("the first writer's next event: %v", err)
	}
	now := get(t, s, "s")
	if turn, err := now.State().Get("turn"); err != nil || turn != "first" || now.Events().Len() != 2 {
		t.Errorf("turn %v, %v, %d events", turn, err, now.Events().Len())
	}
	if _, err := now.State().Get("app:k"); !errors.Is(err, session.ErrStateKeyNotExist) {
		t.Errorf("the refused event changed the app's state: %v", err)
	}
}

func TestALateWriterDoesNotBringASessionBack(t *testing.T) {
	s, ctx := adk.NewSessions(dial(t), ""), t.Context()
	old := create(t, s, "s", nil)
	remove := &session.DeleteRequest{AppName: "app", UserID: "ada", SessionID: "s"}
	if err := s.Delete(ctx, remove); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(ctx, old, said("1", "late", nil)); !errors.Is(err, adk.ErrStaleSession) {
		t.Errorf("after the delete: %v", err)
	}
	create(t, s, "s", nil)
	if err := s.AppendEvent(ctx, old, said("1", "late", nil)); !errors.Is(err, adk.ErrStaleSession) {
		t.Errorf("after it was created again: %v", err)
	}
	if n := get(t, s, "s").Events().Len(); n != 0 {
		t.Errorf("%d events in the new session", n)
	}
}

// The caller does not know whether its append was applied, and repeats it with a session
// of the earlier revision.
func TestARepeatedEventIsStoredOnce(t *testing.T) {
	s, ctx := adk.NewSessions(dial(t), ""), t.Context()
	create(t, s, "s", nil)
	first, same := get(t, s, "s"), get(t, s, "s")
	event := said("1", "one", map[string]any{"k": "v", "temp:t": 1})
	if err := s.AppendEvent(ctx, first, event); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(ctx, same, event); err != nil {
		t.Errorf("the same event again: %v", err)
	}
	if err := s.AppendEvent(ctx, same, said("2", "two", nil)); err != nil {
		t.Errorf("the next event: %v", err)
	}
	if n := get(t, s, "s").Events().Len(); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

// Sessions of one user change the states of the app and the user at a time: each change
// stays.
func TestConcurrentChangesOfSharedStateAreKept(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	const writers = 8
	failed := make(chan error, writers)
	for i := range writers {
		of := create(t, s, fmt.Sprint(i), nil)
		go func() {
			delta := map[string]any{fmt.Sprintf("app:%d", i): i, fmt.Sprintf("user:%d", i): i}
			failed <- s.AppendEvent(t.Context(), of, said("e", "text", delta))
		}()
	}
	for range writers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if state := maps.Collect(get(t, s, "0").State().All()); len(state) != 2*writers {
		t.Errorf("%d keys of %d: %v", len(state), 2*writers, state)
	}
}

// Parallel agents of one process append to the same session in memory.
// A writer that changes another key leaves a number as it is stored, also one that JSON's float64 rounds.
func TestALargeNumberKeepsItsDigits(t *testing.T) {
	store := memstore.New()
	s, ctx := adk.NewSessions(store, "numbers"), t.Context()
	const large = 1<<53 + 1
	create(t, s, "s", map[string]any{"own": large, "app:n": large, "user:n": large})
	again := get(t, s, "s")
	if err := s.AppendEvent(ctx, again, said("1", "one", map[string]any{"k": 1, "app:k": 1, "user:k": 1})); err != nil {
		t.Fatal(err)
	}
	found, err := store.Read(ctx, agent.Reads{Scope: "numbers", Reads: []agent.Read{
		&agent.GetValue{Key: "adk/session/app/ada/s"}, &agent.GetValue{Key: "adk/app/app"}, &agent.GetValue{Key: "adk/user/app/ada"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range found.Answers {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		if v := a.Found.(*agent.Value); !strings.Contains(string(v.Bytes), "9007199254740993") || !strings.Contains(string(v.Bytes), `"k":1`) {
			t.Errorf("%s is %s", v.Key, v.Bytes)
		}
	}
}

func TestEventsOfOneSessionInMemoryFollowEachOther(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	of := create(t, s, "s", nil)
	const n = 20
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() {
			if err := s.AppendEvent(t.Context(), of, said(fmt.Sprint(i), "text", map[string]any{fmt.Sprint(i): i})); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	stored := get(t, s, "s")
	if got := len(maps.Collect(stored.State().All())); stored.Events().Len() != n || got != n || of.Events().Len() != n {
		t.Errorf("%d events, %d keys, want %d", stored.Events().Len(), got, n)
	}
}

// A session of more bytes than one answer has is read in pages, as of one revision.
func TestALargeSessionIsReadWhole(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	of := create(t, s, "s", nil)
	const n = 24
	for i := range n {
		if err := s.AppendEvent(t.Context(), of, said(fmt.Sprint(i), strings.Repeat("x", 900<<10), nil)); err != nil {
			t.Fatal(err)
		}
	}
	events := get(t, s, "s").Events()
	if events.Len() != n || events.At(n-1).ID != fmt.Sprint(n-1) || events.At(n) != nil {
		t.Errorf("%d events", events.Len())
	}
	if err := s.AppendEvent(t.Context(), of, said("large", strings.Repeat("x", agent.EntryBytesMax), nil)); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("an event over the limit: %v", err)
	}
}

func TestASessionOfManyIsListed(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	const n = 40 // more than one page
	for i := range n {
		create(t, s, fmt.Sprintf("a/%02d%%", i), map[string]any{"n": i, "user:seen": true})
	}
	r, err := s.List(t.Context(), &session.ListRequest{AppName: "app", UserID: "ada"})
	if err != nil || len(r.Sessions) != n {
		t.Fatalf("%d sessions, %v", len(r.Sessions), err)
	}
	last := r.Sessions[n-1]
	if seen, err := last.State().Get("user:seen"); err != nil || seen != true || last.ID() != "a/39%" || last.LastUpdateTime().IsZero() {
		t.Errorf("%s: %v, %v, updated %v", last.ID(), seen, err, last.LastUpdateTime())
	}
	if r, err := s.List(t.Context(), &session.ListRequest{AppName: "ap"}); err != nil || len(r.Sessions) != 0 {
		t.Errorf("an app with a shorter name has %d sessions, %v", len(r.Sessions), err)
	}
}

// Sessions whose states exceed one answer together are read in several.
func TestSessionsOfLargeStatesAreListed(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	const n = 25
	for i := range n {
		create(t, s, fmt.Sprintf("%02d", i), map[string]any{"notes": strings.Repeat("x", 1<<20)})
	}
	create(t, s, "last", map[string]any{"user:notes": strings.Repeat("x", 1<<20)})
	r, err := s.List(t.Context(), &session.ListRequest{AppName: "app", UserID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sessions) != n+1 || r.Sessions[n-1].ID() != "24" || r.Sessions[n].ID() != "last" {
		t.Errorf("%d sessions", len(r.Sessions))
	}
}

func TestASessionIsRemembered(t *testing.T) {
	c, ctx := dial(t), t.Context()
	s, m := adk.NewSessions(c, ""), adk.NewMemories(c.Scope, 0)
	of := create(t, s, "s", nil)
	photo := said("3", "a photo of the harbour", nil)
	photo.Content.Parts = append(photo.Content.Parts, genai.NewPartFromBytes(make([]byte, 500<<10), "image/png"))
	for _, e := range []*session.Event{said("1", "Ada likes green tea", nil), said("2", "The train leaves at nine", nil), photo} {
		if err := s.AppendEvent(ctx, of, e); err != nil {
			t.Fatal(err)
		}
		for range 2 { // adding it again changes nothing
			if err := m.AddSessionToMemory(ctx, of); err != nil {
				t.Fatal(err)
			}
		}
	}
	message := "tea " + strings.Repeat("é", agent.RecallQueryBytesMax) // as a tool of ADK searches for the user's whole message
	for query, want := range map[string][]string{"tea": {"1"}, "HARBOUR": {"3"}, "giraffe": nil, " ": nil, message: {"1"}, "x" + message[4:]: nil, "tea \xff": {"1"}} {
		r, err := m.SearchMemory(ctx, &memory.SearchRequest{AppName: "app", UserID: "ada", Query: query})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range r.Memories {
			ids = append(ids, e.ID)
			if e.Author != "user" || e.Content == nil || len(e.Content.Parts) != 1 || e.Timestamp.IsZero() {
				t.Errorf("%q finds %+v", query, e)
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%q finds %v, want %v", query, ids, want)
		}
	}
	r, err := m.SearchMemory(ctx, &memory.SearchRequest{AppName: "app", UserID: "grace", Query: "tea"})
	if err != nil || len(r.Memories) != 0 {
		t.Errorf("another user finds %v, %v", r, err)
	}
}

func TestConcurrentSavesGetVersionsOfTheirOwn(t *testing.T) {
	a := adk.NewArtifacts(dial(t).Scope)
	const n = 8
	versions := make(chan int64, n)
	for i := range n {
		go func() {
			r, err := a.Save(t.Context(), &artifact.SaveRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "f", Part: genai.NewPartFromText(fmt.Sprint(i))})
			if err != nil {
				t.Error(err)
				r = &artifact.SaveResponse{}
			}
			versions <- r.Version
		}()
	}
	var got []int64
	for range n {
		got = append(got, <-versions)
	}
	slices.Sort(got)
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
}

func TestAnArtifactKeepsItsPart(t *testing.T) {
	a, ctx := adk.NewArtifacts(dial(t).Scope), t.Context()
	part := &genai.Part{InlineData: &genai.Blob{Data: []byte{0, 255}, MIMEType: "image/png", DisplayName: "a photo"}}
	save := func(p *genai.Part, version int64) error {
		_, err := a.Save(ctx, &artifact.SaveRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "user:f", Part: p, Version: version})
		return err
	}
	if err := save(part, 7); err != nil {
		t.Fatal(err)
	}
	if err := save(part, 7); err == nil {
		t.Error("a version was saved twice")
	}
	if err := save(part, -1); err == nil {
		t.Error("a negative version was saved")
	}
	load := &artifact.LoadRequest{AppName: "app", UserID: "ada", SessionID: "another", FileName: "user:f"}
	if r, err := a.Load(ctx, load); err != nil || r.Part.InlineData.DisplayName != "a photo" || string(r.Part.InlineData.Data) != "\x00\xff" {
		t.Errorf("%+v, %v", r, err)
	}
	about, err := a.GetArtifactVersion(ctx, &artifact.GetArtifactVersionRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "user:f"})
	if err != nil || about.ArtifactVersion.Version != 7 || about.ArtifactVersion.MimeType != "image/png" || about.ArtifactVersion.CreateTime.IsZero() {
		t.Errorf("%+v, %v", about, err)
	}
	if err := save(genai.NewPartFromBytes(make([]byte, agent.ValueBytesMax+1), "image/png"), 0); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("an artifact over the limit: %v", err)
	}
	if err := a.Delete(ctx, &artifact.DeleteRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "user:f"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Load(ctx, load); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the delete: %v", err)
	}
}

// contended is a service on which other writers change shared states before each of the
// first refusals commits that write one.
type contended struct {
	agent.Service
	refusals int
	commits  int
}

func (c *contended) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if len(commit.Ops) > 1 {
		c.commits++
		if c.commits <= c.refusals {
			refused := agent.Errorf(agent.CodeRevisionMismatch, "another writer came first")
			refused.Op = len(commit.Ops) - 1
			return agent.Result{}, refused
		}
	}
	return c.Service.Commit(ctx, commit)
}

func TestAChangeOfSharedStateIsTriedABoundedNumberOfTimes(t *testing.T) {
	for _, c := range []struct {
		refusals int
		want     agent.Code
	}{{63, ""}, {64, agent.CodeRevisionMismatch}} {
		inMemory := memstore.New()
		s := adk.NewSessions(inMemory, "scope")
		of := create(t, s, "s", nil)
		service := &contended{Service: inMemory, refusals: c.refusals}
		err := adk.NewSessions(service, "scope").AppendEvent(t.Context(), of, said("1", "text", map[string]any{"app:k": 1}))
		if agent.CodeOf(err) != c.want || service.commits != 64 {
			t.Errorf("after %d refusals and %d commits: %v", c.refusals, service.commits, err)
		}
	}
}

func TestASessionOfAnotherServiceIsRefused(t *testing.T) {
	s := adk.NewSessions(dial(t), "")
	foreign, err := session.InMemoryService().Create(context.Background(), &session.CreateRequest{AppName: "app", UserID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvent(t.Context(), foreign.Session, said("1", "text", nil)); err == nil || !strings.Contains(err.Error(), "use one that this service returned") {
		t.Errorf("%v", err)
	}
}

// emptyFirst is a service whose lists of values begin with an empty page, which names the next one.
type emptyFirst struct{ agent.Service }

func (e emptyFirst) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if list, ok := r.Reads[0].(*agent.ListValues); ok && list.After == "" {
		return agent.Answers{Answers: []agent.Answer{{Found: &agent.ValueList{Next: list.Prefix}}}}, nil
	}
	return e.Service.Read(ctx, r)
}

// A page of a list may be empty although it has a next one, as while a deletion by prefix is under way.
func TestTheNewestArtifactIsFoundAfterAnEmptyPage(t *testing.T) {
	a := adk.NewArtifacts(client.In(emptyFirst{memstore.New()}, "scope"))
	for version := int64(1); version <= 2; version++ {
		saved, err := a.Save(t.Context(), &artifact.SaveRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "f", Part: genai.NewPartFromText(fmt.Sprint(version))})
		if err != nil || saved.Version != version {
			t.Fatalf("version %d is saved as %+v, %v", version, saved, err)
		}
	}
	loaded, err := a.Load(t.Context(), &artifact.LoadRequest{AppName: "app", UserID: "ada", SessionID: "s", FileName: "f"})
	if err != nil || loaded.Part.Text != "2" {
		t.Errorf("%+v, %v", loaded, err)
	}
}
