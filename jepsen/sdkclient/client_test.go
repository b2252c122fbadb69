package sdkclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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
		{`Traceback`, agent.CodeInternal},
		{``, agent.CodeUnknown},
	} {
		client := sdkclient.New(program(t, func(int) string { return c.answer }), false)
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

// TestTheLibraryMakesTheCalls runs the program with the library.
func TestTheLibraryMakesTheCalls(t *testing.T) {
	if exec.Command("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
		t.Skip("there is no python3 of version 3.11 or newer")
	}
	library, err := filepath.Abs("../../sdk/python")
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, named := range []bool{false, true} {
		client := sdkclient.New(started(t, library, server.URL), named)
		big, zero := uint64(1<<60+1), uint64(0)
		scope := fmt.Sprint("s", named)
		for _, step := range []struct {
			op   agent.Op
			code agent.Code
		}{
			{&agent.PutValue{Key: "k/1", Bytes: []byte("v\x00é")}, ""},
			{&agent.PutValue{Key: "k/1", Bytes: []byte("w"), IfRevision: &zero}, agent.CodeRevisionMismatch},
			{&agent.PutValue{Key: "l", Bytes: []byte("w"), IfRevision: &zero}, ""},
			{&agent.DeleteValue{Key: "l"}, ""},
			{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "e", Kind: "k", Payload: agent.JSON(`{"text":"<é>","big":1152921504606846977}`)}}}, ""},
			{&agent.AppendThread{Thread: "t", ExpectedRev: &big}, agent.CodeConflict},
		} {
			if _, err := client.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{step.op}}); agent.CodeOf(err) != step.code {
				t.Errorf("named %t, %T: %v, want %q", named, step.op, err, step.code)
			}
		}
		reads := agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetValue{Key: "k/1"}, &agent.GetValue{Key: "l"}, &agent.LoadEntries{Thread: "t"}}}
		got, err := client.Read(t.Context(), reads)
		want, wanted := store.Read(t.Context(), reads)
		if err != nil || wanted != nil || len(got.Answers) != 3 {
			t.Fatal(got, err, wanted)
		}
		for i := range 3 {
			if !reflect.DeepEqual(got.Answers[i].Found, want.Answers[i].Found) {
				t.Errorf("named %t: got %+v, want %+v", named, got.Answers[i].Found, want.Answers[i].Found)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func started(t *testing.T, library, url string) *sdkclient.Program {
	t.Helper()
	cmd := exec.Command("python3", "-c", sdkclient.Caller)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+library, "PYTHONDONTWRITEBYTECODE=1", sdkclient.EnvURLs+"="+url)
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
