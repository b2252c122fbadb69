package sdkclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/jepsen/sdkclient"
	"dormouse/server/rest"
)

// program answers each call with what answer returns; "" is silence.
func program(t *testing.T, answer func(id int) string) *sdkclient.Program {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	go func() {
		defer out.Close() //nolint:errcheck // a pipe's never fails
		for scan := bufio.NewScanner(in); scan.Scan(); {
			var call struct {
				ID int `json:"id"`
			}
			if err := json.Unmarshal(scan.Bytes(), &call); err != nil {
				t.Errorf("%s: %v", scan.Bytes(), err)
			}
			if text := answer(call.ID); text != "" {
				_, _ = fmt.Fprintln(out, text)
			}
		}
	}()
	return &sdkclient.Program{Stdin: stdin, Stdout: stdout, End: func() error { return nil }}
}

func TestOutcomesAreAsTold(t *testing.T) {
	put := agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}
	for _, c := range []struct {
		answer string
		code   agent.Code
	}{
		{`{"id":1,"done":{"index":3,"results":[{"op":"put_value","key":"k","revision":1}]}}`, ""},
		{`{"id":1,"done":{"index":3,"results":[]}}`, agent.CodeInternal},
		{`{"id":1,"refused":{"code":"conflict","rev":4}}`, agent.CodeConflict},
		{`{"id":1,"refused":{"code":"internal"}}`, agent.CodeUnavailable}, // the library says that it was not applied
		{`{"id":1,"unknown":"the time is over"}`, agent.CodeUnknown},
		{`{"id":0,"unknown":"of an earlier call"}` + "\n" + `{"id":1,"done":{"index":3,"results":[{"op":"put_value","key":"k","revision":1}]}}`, ""},
		{`{"id":1,"broken":"TypeError"}`, agent.CodeInternal},
		{`Traceback`, agent.CodeInternal},
		{``, agent.CodeUnknown},
	} {
		client := sdkclient.New(program(t, func(int) string { return c.answer }), sdkclient.Unions)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := client.Commit(ctx, put)
		cancel()
		if agent.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", c.answer, err, c.code)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

// operator is a node's operator that no call reaches.
type operator struct{ layout.Operator }

// TestTheLibraryMakesTheCalls runs the program of each language with its library.
func TestTheLibraryMakesTheCalls(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range sdkclient.Languages() {
		t.Run(language.ID, func(t *testing.T) {
			command, err := language.Prepare(t.Context(), root, t.TempDir())
			if missing := sdkclient.MissingError(""); errors.As(err, &missing) {
				t.Skip(missing)
			}
			if err != nil {
				t.Fatal(err)
			}
			tellOutcomes(t, command)
			store := memstore.New()
			handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(handler)
			defer server.Close()
			for _, calls := range []sdkclient.Calls{sdkclient.Unions, sdkclient.Named} {
				client := sdkclient.New(started(t, command, server.URL), calls)
				scope := fmt.Sprint("s", calls)
				makeCalls(t, client, store, scope, language.ID == "typescript")
				makeTurns(t, client, store, scope)
				followAll(t, client, store, scope)
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// tellOutcomes makes calls to a node whose first attempts fail, and compares what the library tells of them.
func tellOutcomes(t *testing.T, command sdkclient.Command) {
	t.Helper()
	var script []agent.Code // answers one attempt after another; "" cuts the connection
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := script[0]
		script, keys = script[1:], append(keys, r.Header.Get("Idempotency-Key"))
		if code == "" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(map[agent.Code]int{agent.CodeUnavailable: 503, agent.CodeOverloaded: 429, agent.CodeUnknown: 504, agent.CodeForbidden: 403, agent.CodeConflict: 409, agent.CodeInternal: 500, agent.CodeRequestExpired: 409}[code])
		_, _ = fmt.Fprintf(w, `{"type":"t","title":"t","status":400,"detail":"d","code":%q,"rev":7}`, code)
	}))
	defer server.Close()
	client := sdkclient.New(started(t, command, server.URL), sdkclient.Mixed)
	for _, c := range []struct {
		answers     []agent.Code
		write, read agent.Code
	}{
		{[]agent.Code{agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeForbidden}, agent.CodeForbidden, agent.CodeForbidden},
		{[]agent.Code{agent.CodeUnknown, agent.CodeForbidden}, agent.CodeUnknown, agent.CodeForbidden},
		{[]agent.Code{agent.CodeInternal}, agent.CodeUnknown, agent.CodeInternal},
		{[]agent.Code{agent.CodeRequestExpired}, agent.CodeUnknown, agent.CodeRequestExpired},
		{[]agent.Code{"", agent.CodeForbidden}, agent.CodeUnknown, agent.CodeForbidden},
		{[]agent.Code{"", agent.CodeUnavailable, agent.CodeConflict}, agent.CodeConflict, agent.CodeConflict}, // it is the log's, under the same key
	} {
		script, keys = c.answers, nil
		_, err := client.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
		if agent.CodeOf(err) != c.write || len(slices.Compact(keys)) != 1 || keys[0] == "" {
			t.Errorf("%q: the write is told as %v, want %q; its keys are %q", c.answers, err, c.write, keys)
		}
		script = c.answers
		if _, err := client.Read(t.Context(), agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); agent.CodeOf(err) != c.read {
			t.Errorf("%q: the read is told as %v, want %q", c.answers, err, c.read)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// makeCalls makes calls, and compares what they did. If doubles is set, whole numbers above 2^53 lose digits in the
// language, as its page says.
func makeCalls(t *testing.T, client *sdkclient.Client, store agent.Service, scope string, doubles bool) {
	t.Helper()
	big, zero, one, at, fence := uint64(1<<60+1), uint64(0), uint64(1), int64(1_700_000_000_000), &agent.Fence{Claim: "c é"}
	var appended []agent.EntryStamp
	payload := agent.JSON("{\"big\":1152921504606846977,\"text\":\"<é\u2028\"}")
	if doubles {
		payload = agent.JSON("{\"big\":9007199254740991,\"text\":\"<é\u2028\"}")
	}
	for _, step := range []struct {
		op    agent.Op
		fence *agent.Fence
		code  agent.Code
	}{
		{&agent.AppendThread{Thread: "t", ExpectedRev: &one, Entries: []agent.Draft{{ID: "e"}}}, nil, agent.CodeConflict}, // the first call of a library with a condition
		{&agent.PutValue{Key: "k/1", Bytes: []byte("v\x00é")}, nil, ""},
		{&agent.PutValue{Key: "k/1", Bytes: []byte("w"), IfRevision: &zero}, nil, agent.CodeRevisionMismatch},
		{&agent.PutValue{Key: "l", Bytes: []byte("w"), IfRevision: &zero}, nil, ""},
		{&agent.DeleteValue{Key: "l"}, nil, ""},
		{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "e", Kind: "k", Payload: payload}}}, nil, ""},
		{&agent.AppendThread{Thread: "t", ExpectedRev: &big}, nil, agent.CodeConflict},
		{&agent.AppendThread{Thread: "t", ExpectedRev: &one, Entries: []agent.Draft{{ID: "f"}, {ID: "g", At: &at}}}, nil, ""},
		{&agent.TakeClaim{Claim: fence.Claim, Holder: "h"}, nil, ""},
		{&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":1}`)}, fence, ""},
		{&agent.TakeClaim{Claim: fence.Claim, Holder: "h"}, nil, ""},
		{&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":2}`)}, fence, agent.CodeFenced},
	} {
		result, err := client.Commit(t.Context(), agent.Commit{Scope: scope, Fence: step.fence, Ops: []agent.Op{step.op}})
		if agent.CodeOf(err) != step.code {
			t.Errorf("%s, %T: %v, want %q", scope, step.op, err, step.code)
		}
		switch r := first(result).(type) {
		case *agent.ClaimResult:
			if fence.Epoch == 0 {
				fence.Epoch = r.Claim.Epoch
			}
		case *agent.ThreadResult:
			appended = append(appended, r.Entries...)
		}
	}
	reads := agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetValue{Key: "k/1"}, &agent.GetValue{Key: "l"}, &agent.LoadEntries{Thread: "t"}, &agent.GetCheckpoint{Key: "c"}}}
	got, err := client.Read(t.Context(), reads)
	want, wanted := store.Read(t.Context(), reads)
	if err != nil || wanted != nil || len(got.Answers) != 4 {
		t.Fatal(got, err, wanted)
	}
	for i := range 4 {
		if !reflect.DeepEqual(got.Answers[i].Found, want.Answers[i].Found) {
			t.Errorf("%s: got %+v, want %+v", scope, got.Answers[i].Found, want.Answers[i].Found)
		}
	}
	if len(appended) != 3 || appended[2].ID != "g" || appended[2].Seq != 2 || appended[2].At != at {
		t.Errorf("%s: appends were answered with %+v", scope, appended)
	}
	entries, ok := want.Answers[2].Found.(*agent.Entries)
	if !ok || len(entries.Items) != 3 || string(entries.Items[0].Payload) != string(payload) {
		t.Errorf("%s: the entry is %+v, want %s", scope, want.Answers[2].Found, payload)
	}
}

func first(r agent.Result) agent.OpResult {
	if len(r.Results) == 0 {
		return nil
	}
	return r.Results[0]
}

func started(t *testing.T, command sdkclient.Command, url string) *sdkclient.Program {
	t.Helper()
	cmd := exec.Command(command.Args[0], command.Args[1:]...)
	cmd.Env = append(append(os.Environ(), command.Env...), sdkclient.EnvURLs+"="+url)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &sdkclient.Program{Stdin: stdin, Stdout: stdout, End: cmd.Wait}
}
