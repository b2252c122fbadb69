package importer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/importer"
)

const lines = `{"id":"c1","agent":"airline","user":"mia","reward":0.0,"messages":[{"role":"system","content":"a <b> & 9007199254740993"},{"role":"user","content":"hi"},{"content":null,"role":"assistant","tool_calls":[{"id":"x"}]},{"role":"tool","content":"{}"},{"content":"bye", "role":"assistant"}]}

{"id":"c2","messages":[{"role":"user","content":"\u00e9é"},{"role":"assistant","content":"b","tool_calls":null}]}
`

func transcripts(t *testing.T, text string) []importer.Conversation {
	t.Helper()
	list, err := importer.ReadTranscripts(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// found reads one object from a store.
func found[T agent.Found](t *testing.T, s agent.Service, read agent.Read) T {
	t.Helper()
	answers, err := s.Read(context.Background(), agent.Reads{Reads: []agent.Read{read}})
	if err != nil {
		t.Fatal(err)
	}
	if answers.Answers[0].Err != nil {
		t.Fatal(answers.Answers[0].Err)
	}
	return answers.Answers[0].Found.(T)
}

func TestEachMessageIsACommitOfAnEntryAndACheckpoint(t *testing.T) {
	s := memstore.New()
	summary, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	if summary.Conversations != 2 || summary.Messages != 7 || summary.Already != 0 || summary.Differences.Count != 0 {
		t.Errorf("summary %+v", summary)
	}
	if s.Index() != 7 {
		t.Fatalf("%d commits, want one a message", s.Index())
	}
	thread := found[*agent.Entries](t, s, &agent.LoadEntries{Thread: "c1", Limit: 4})
	want := []struct{ kind, payload string }{
		{agent.KindMessage, `{"role":"system","content":"a <b> & 9007199254740993"}`},
		{agent.KindMessage, `{"role":"user","content":"hi"}`},
		{agent.KindToolCall, `{"content":null,"role":"assistant","tool_calls":[{"id":"x"}]}`},
		{agent.KindToolResult, `{"role":"tool","content":"{}"}`},
	}
	for i, e := range thread.Items {
		if e.Kind != want[i].kind || string(e.Payload) != want[i].payload {
			t.Errorf("entry %d is a %s, %s; want a %s, %s", i, e.Kind, e.Payload, want[i].kind, want[i].payload)
		}
	}
	last := found[*agent.Entries](t, s, &agent.LoadEntries{Thread: "c1", From: 4}).Items[0]
	if string(last.Payload) != `{"content":"bye","role":"assistant"}` {
		t.Errorf("white space was not taken out: %s", last.Payload)
	}
	c := found[*agent.Checkpoint](t, s, &agent.GetCheckpoint{Key: "c1"})
	if got := string(c.State); got != `{"agent":"airline","user":"mia","reward":0.0,"messages":5,"last_role":"assistant"}` {
		t.Errorf("state %s", got)
	}
	if c.Revision != 5 || c.Thread == nil || c.Thread.Thread != "c1" || c.Thread.Rev != 5 {
		t.Errorf("checkpoint at revision %d points to %+v", c.Revision, c.Thread)
	}
	if got := string(found[*agent.Checkpoint](t, s, &agent.GetCheckpoint{Key: "c2"}).State); got != `{"messages":2,"last_role":"assistant"}` {
		t.Errorf("state %s", got)
	}
}

func TestCopiesHaveNamesOfTheirOwn(t *testing.T) {
	s := memstore.New()
	o := importer.Options{Copies: 3}
	if _, err := importer.Import(t.Context(), s, transcripts(t, lines), o); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, thread := range found[*agent.ThreadList](t, s, &agent.ListThreads{}).Items {
		names = append(names, thread.ID)
	}
	if got := strings.Join(names, " "); got != "c1 c1#2 c1#3 c2 c2#2 c2#3" {
		t.Errorf("threads %s", got)
	}
	report, err := importer.Verify(t.Context(), s, transcripts(t, lines), o)
	if err != nil || report.Differences.Count != 0 || report.Conversations != 6 || report.Entries != 21 || fmt.Sprint(report.Nodes) != "[n1]" {
		t.Errorf("report %+v, %v", report, err)
	}
}

func TestAnIdThatIsTheNameOfACopyIsRefused(t *testing.T) {
	file := func(ids ...string) (list []importer.Conversation) {
		var text strings.Builder
		for _, id := range ids {
			fmt.Fprintf(&text, `{"id":%q,"messages":[{"role":"user","content":%q}]}`+"\n", id, id)
		}
		return transcripts(t, text.String())
	}
	s := memstore.New()
	_, err := importer.Import(t.Context(), s, file("b", "a#2", "a"), importer.Options{Copies: 2})
	want := `line 2: conversation "a#2" has the name of copy 2 of conversation "a" on line 3: rename one of them, or import fewer than 2 copies`
	if err == nil || err.Error() != want || s.Index() != 0 {
		t.Errorf("%v, after %d commits", err, s.Index())
	}
	for _, list := range [][]importer.Conversation{file("a", "a#3"), file("a", "a#02"), file("a#2", "b"), file("a", "a#1"), file("#2", "a")} {
		if _, err := importer.Import(t.Context(), memstore.New(), list, importer.Options{Copies: 2}); err != nil {
			t.Error(err)
		}
	}
}

func TestAnInterruptedImportResumes(t *testing.T) {
	s := memstore.New()
	applied := 0
	s.BeforeCommit = func(context.Context, agent.Commit) error {
		if applied++; applied > 3 {
			return agent.Errorf(agent.CodeInternal, "the process dies here")
		}
		return nil
	}
	if _, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{Parallel: 1}); err == nil {
		t.Fatal("the first run did not fail")
	}
	s.BeforeCommit = nil
	var progress atomic.Int64
	summary, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{
		Progress: func(n int) { progress.Add(int64(n)) },
	})
	if err != nil || summary.Already != 3 || summary.Messages != 4 || summary.Conversations != 2 {
		t.Fatalf("summary %+v, %v", summary, err)
	}
	if progress.Load() != 7 {
		t.Errorf("progress was told of %d messages, want 7", progress.Load())
	}
	if report, err := importer.Verify(t.Context(), s, transcripts(t, lines), importer.Options{}); err != nil || report.Differences.Count > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	again, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{})
	if err != nil || again.Messages != 0 || again.Already != 7 {
		t.Errorf("a third run: %+v, %v", again, err)
	}
}

func TestAnUnknownOutcomeIsRepeatedUnderTheSameRequestId(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		var mu sync.Mutex
		requests := map[agent.Request]int{}
		// Every first attempt applies and loses its answer; every second one
		// does not apply.
		s.BeforeCommit = func(_ context.Context, c agent.Commit) error {
			mu.Lock()
			defer mu.Unlock()
			if requests[c.Request]++; requests[c.Request] == 2 {
				return agent.Errorf(agent.CodeUnavailable, "no leader")
			}
			return nil
		}
		s.AfterCommit = func(_ context.Context, c agent.Commit) error {
			mu.Lock()
			defer mu.Unlock()
			if requests[c.Request] == 1 {
				return agent.Errorf(agent.CodeUnknown, "the answer was lost")
			}
			return nil
		}
		summary, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if summary.Messages != 7 || summary.Unknown != 7 || summary.Retries != 14 || len(requests) != 7 {
			t.Errorf("summary %+v, %d request ids", summary, len(requests))
		}
		report, err := importer.Verify(t.Context(), s, transcripts(t, lines), importer.Options{})
		if err != nil || report.Differences.Count > 0 {
			t.Errorf("report %+v, %v", report, err)
		}
	})
}

func TestALateCommitOfAnEarlierRunIsAccepted(t *testing.T) {
	s := memstore.New()
	list := transcripts(t, lines)[1:]
	// The earlier run's commit of the first message.
	first := memstore.New()
	var commits []agent.Commit
	first.AfterCommit = func(_ context.Context, c agent.Commit) error {
		commits = append(commits, c)
		return nil
	}
	if _, err := importer.Import(t.Context(), first, list, importer.Options{Parallel: 1}); err != nil {
		t.Fatal(err)
	}
	arrived := false
	racing := &racing{Store: s, before: func() {
		if !arrived {
			arrived = true
			if _, err := s.Commit(context.Background(), commits[0]); err != nil {
				t.Error(err)
			}
		}
	}}
	summary, err := importer.Import(t.Context(), racing, list, importer.Options{Parallel: 1})
	if err != nil || summary.Already != 1 || summary.Messages != 1 {
		t.Fatalf("summary %+v, %v", summary, err)
	}
}

// racing calls a function between a read and the commit after it.
type racing struct {
	*memstore.Store
	before func()
}

func (r *racing) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	r.before()
	return r.Store.Commit(ctx, c)
}

func TestAnImportGivesUpWhenNothingIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		s.BeforeRead = func(context.Context, agent.Reads) error { return agent.Errorf(agent.CodeUnavailable, "no leader") }
		began := time.Now()
		_, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{GiveUp: time.Minute})
		if !errors.Is(err, agent.ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
		if took := time.Since(began); took < 50*time.Second || took > time.Minute {
			t.Errorf("gave up after %v", took)
		}
	})
}

func TestTheRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		summary, err := importer.Import(t.Context(), memstore.New(), transcripts(t, lines), importer.Options{Rate: 2})
		if err != nil || summary.Elapsed != 3*time.Second {
			t.Fatalf("7 messages at 2 a second took %v, %v; want 3s after the first", summary.Elapsed, err)
		}
	})
}

func TestDifferencesAreFoundAndLeftAlone(t *testing.T) {
	for _, test := range []struct {
		name string
		op   func() []agent.Op // applied to a finished import
		want string
	}{
		{"an entry too many", func() []agent.Op {
			return []agent.Op{&agent.AppendThread{Thread: "c1", Entries: []agent.Draft{{}}}}
		}, "the thread is at rev 6, the file at 5"},
		{"no thread", func() []agent.Op { return []agent.Op{&agent.DeleteThread{Thread: "c1"}} }, "there is no such thread"},
		{"no checkpoint", func() []agent.Op { return []agent.Op{&agent.DeleteCheckpoint{Key: "c1"}} }, "there is no such checkpoint"},
		{"another state", func() []agent.Op {
			return []agent.Op{&agent.PatchCheckpoint{Key: "c1", Patch: agent.JSON(`{"messages":4}`)}}
		}, "the checkpoint's state is not the file's: at byte"},
		{"written once too often", func() []agent.Op {
			return []agent.Op{&agent.PatchCheckpoint{Key: "c1", Patch: agent.JSON(`{}`)}}
		}, "was written 6 times, for 5 messages"},
		{"no pointer", func() []agent.Op {
			return []agent.Op{&agent.PutCheckpoint{Key: "c1", State: agent.JSON(`{}`)}}
		}, "points to no thread"},
		{"a pointer to an older rev", func() []agent.Op {
			return []agent.Op{&agent.PutCheckpoint{Key: "c1", State: agent.JSON(`{}`), Thread: &agent.Pointer{Thread: "c1", Rev: 4}}}
		}, "points to c1@4, not to c1@5"},
		{"a compacted thread", func() []agent.Op {
			return []agent.Op{&agent.CompactThread{Thread: "c1", BeforeSeq: 2}}
		}, "compacted below 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := memstore.New()
			if _, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Commit(t.Context(), agent.Commit{Ops: test.op()}); err != nil {
				t.Fatal(err)
			}
			report, err := importer.Verify(t.Context(), s, transcripts(t, lines), importer.Options{})
			if err != nil || !strings.Contains(strings.Join(report.Differences.First, "\n"), test.want) {
				t.Errorf("verify: %v, %q; want %q", err, report.Differences.First, test.want)
			}
			if report.Conversations != 2 {
				t.Errorf("looked at %d conversations", report.Conversations)
			}
		})
	}
}

func TestAnImportLeavesAThreadOfOtherContentAlone(t *testing.T) {
	s := memstore.New()
	other := []agent.Op{&agent.AppendThread{Thread: "c1", Entries: []agent.Draft{{Kind: "message", Payload: agent.JSON(`{"role":"system"}`)}}}}
	if _, err := s.Commit(t.Context(), agent.Commit{Ops: other}); err != nil {
		t.Fatal(err)
	}
	summary, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{})
	if err != nil || summary.Conversations != 1 || !strings.Contains(strings.Join(summary.Differences.First, "\n"), "entry 0 is not the file's") {
		t.Fatalf("summary %+v, %v", summary, err)
	}
	if rev := found[*agent.Thread](t, s, &agent.GetThread{Thread: "c1"}).Rev; rev != 1 {
		t.Errorf("the other thread is at rev %d", rev)
	}
}

// altered changes the nth entry of every load.
type altered struct {
	*memstore.Store
	change func(*agent.Entry)
}

func (a *altered) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := a.Store.Read(ctx, r)
	for _, answer := range answers.Answers {
		if entries, ok := answer.Found.(*agent.Entries); ok && len(entries.Items) > 1 {
			entries.Items = append([]agent.Entry(nil), entries.Items...)
			a.change(&entries.Items[1])
		}
	}
	return answers, err
}

func TestNoChangeOfAnEntryEscapesVerification(t *testing.T) {
	s := memstore.New()
	if _, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*agent.Entry){
		"payload": func(e *agent.Entry) { e.Payload = agent.JSON(strings.ToUpper(string(e.Payload))) },
		"kind":    func(e *agent.Entry) { e.Kind = "note" },
		"seq":     func(e *agent.Entry) { e.Seq++ },
		"id":      func(e *agent.Entry) { e.ID += "x" },
		"at":      func(e *agent.Entry) { e.At++ },
		"refs":    func(e *agent.Entry) { e.Refs = agent.JSON(`{"a":1}`) },
	} {
		report, err := importer.Verify(t.Context(), &altered{s, change}, transcripts(t, lines), importer.Options{})
		if err != nil || report.Differences.Count == 0 {
			t.Errorf("a changed %s was not noticed: %+v, %v", name, report, err)
		}
	}
}

func TestBadTranscriptsAreRefusedByLine(t *testing.T) {
	good := `{"id":"a","messages":[{"role":"user"}]}` + "\n"
	for name, test := range map[string]struct{ text, want string }{
		"nothing":             {"", "the file has no conversations"},
		"blank lines only":    {"\n \n", "the file has no conversations"},
		"not JSON":            {good + "{\n", "line 2: not a conversation"},
		"an array":            {good + "[]\n", "line 2: not a conversation"},
		"an unknown member":   {`{"id":"b","messages":[],"x":1}`, "line 1: not a conversation"},
		"a member twice":      {`{"id":"b","id":"c","messages":[{"role":"u"}]}`, "line 1: not a conversation"},
		"no id":               {`{"messages":[{"role":"u"}]}`, "line 1"},
		"an id of two dots":   {`{"id":"..","messages":[{"role":"u"}]}`, "line 1"},
		"no messages":         {`{"id":"b"}`, `conversation "b" has no messages`},
		"a message of text":   {`{"id":"b","messages":["x"]}`, `message 0 of conversation "b"`},
		"no role":             {`{"id":"b","messages":[{"role":"u"},{}]}`, `message 1 of conversation "b": the message has no role`},
		"a role of numbers":   {`{"id":"b","messages":[{"role":1}]}`, "the message has no role"},
		"invalid UTF-8":       {"{\"id\":\"b\",\"messages\":[{\"role\":\"\xff\"}]}", "line 1"},
		"the same id twice":   {good + "\n" + good, `line 3: conversation "a" is also on line 1`},
		"twice within a line": {`{"id":"b","messages":[{"role":"u","role":"v"}]}`, "line 1"},
	} {
		_, err := importer.ReadTranscripts(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func TestTheSampleIsReadWhole(t *testing.T) {
	file, err := os.Open("testdata/transcripts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	list, err := importer.ReadTranscripts(file)
	if err != nil || len(list) != 5 || importer.Messages(list) != 62 {
		t.Fatalf("%d conversations with %d messages, %v", len(list), importer.Messages(list), err)
	}
}

func FuzzReadTranscriptsNeverPanics(f *testing.F) {
	f.Add(lines)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := importer.ReadTranscripts(strings.NewReader(text))
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%d conversations and %v", len(list), err)
		}
	})
}
