package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/agent/layout"
	jsondoc "dormouse/api/document"
	"dormouse/internal/history"
	"dormouse/server/rest"
)

// corpusDir holds the recorded requests and answers.
const corpusDir = "testdata/corpus"

// TestTheCorpusIsAnsweredAsRecorded replays the requests of each file in testdata/corpus and
// compares the answers with the recorded ones, byte for byte. In a file,
//
//   - "% service NAME" begins a new server: over the store in memory (memory),
//     or over one that answers everything with filled (filled) or with empty
//     results (empty);
//   - "$ METHOD PATH" is a request, "$ Name: value" after it a header, and
//     lines that begin with "| " are its body;
//   - "< STATUS" and "< Name: value" are the answer's status and headers, and
//     lines that begin with "> " its body, or the stream of its events;
//   - "= TYPE MEMBERS" is an op of the commit that the request made.
//
// Run with -rewrite to record the answers.
func TestTheCorpusIsAnsweredAsRecorded(t *testing.T) {
	files, err := filepath.Glob(corpusDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("the corpus has no files: %v", err)
	}
	servers := map[string]*corpusServer{}
	for _, name := range []string{"memory", "filled", "empty"} {
		servers[name] = newCorpusServer(t, name)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replayCorpus(t, servers, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("run with -rewrite if the contract is to change:\n%s", diff)
			}
		})
	}
}

// TestTheCorpusCoversTheContract fails for a route, an op or a read that no request of the corpus
// uses.
func TestTheCorpusCoversTheContract(t *testing.T) {
	files, err := filepath.Glob(corpusDir + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	corpus := all.String()
	_, doc := document(t)
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			id := op.(map[string]any)["operationId"].(string)
			if !strings.Contains(corpus, "# "+id+"\n") {
				t.Errorf("the corpus has no request %s (%s %s)", id, method, path)
			}
		}
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for union, member := range map[string]string{"Op": "op", "Read": "read"} {
		mapping := schemas[union].(map[string]any)["discriminator"].(map[string]any)["mapping"].(map[string]any)
		for name := range mapping {
			if !strings.Contains(corpus, fmt.Sprintf(`{"%s":"%s"`, member, name)) {
				t.Errorf("the corpus has no %s", name)
			}
		}
	}
}

// corpusServer is the server that a part of a file is replayed against.
type corpusServer struct {
	handler http.Handler
	reset   func()            // removes all data
	commits func() []agent.Op // ops committed since the last call
}

func newCorpusServer(t *testing.T, name string) *corpusServer {
	t.Helper()
	memory, canned := newFake(), &canned{fake: newFake()}
	if name == "filled" {
		canned.fill = 1
	}
	var service agent.Service = canned
	var operator layout.Operator = canned
	commits := func() []agent.Op {
		ops := canned.ops
		canned.ops = nil
		return ops
	}
	if name == "memory" {
		service, operator = memory, memory
		commits = func() []agent.Op {
			ops := memory.lastCommit.Ops
			memory.lastCommit = agent.Commit{}
			return ops
		}
	}
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("metrics 1\n"))
	})
	handler, err := rest.New(service, operator, rest.Options{
		Node: "n1", ClusterID: func() string { return "c1" }, Version: "v1", Applied: func() uint64 { return 5 }, Metrics: metrics,
		Instances: &cannedInstances{hosted: hosted{source: agent.SourceFresh}, fill: canned.fill},
		Settings: func() []jsondoc.Setting {
			return []jsondoc.Setting{{Name: "http.addr", Value: "10.0.0.1:7600", Default: "127.0.0.1:7600"}}
		},
		SlowCalls: func() []jsondoc.SlowCall {
			return []jsondoc.SlowCall{{At: 1_700_000_000_000, Call: "commit", Scope: "default", Ops: 1, First: "PutValue", TookUS: 1_320_000, QueueUS: 2_100, ReplicateUS: 1_310_000, ApplyUS: 80}}
		},
		StateSum: func(context.Context) (jsondoc.StateSum, error) {
			return jsondoc.StateSum{Node: "n1", Index: 7, Hash: "9f86d0", Kinds: []jsondoc.KindSum{jsondoc.NewKindSum("thread", 2, 180, 0x2f)}}, nil
		},
		Log:     func() []byte { return []byte("[INFO]  dormouse: started\n") },
		Profile: func(_ context.Context, kind string, _ uint64) ([]byte, error) { return []byte(kind), nil },
		AuditLog: func(before uint64, _ int) ([]agent.JSON, uint64, error) {
			return []agent.JSON{fmt.Appendf(nil, `{"seq":%d,"kind":"admin"}`, max(before, 9)-1)}, max(before, 9) - 1, nil
		},
		History: func() history.Snapshot {
			one := history.Series{Calls: []uint64{120}, P50: []time.Duration{1500 * time.Microsecond}, P99: []time.Duration{4 * time.Millisecond}}
			return history.Snapshot{From: time.UnixMilli(1_700_000_000_000), Writes: one, Reads: one, Signals: one}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &corpusServer{handler, memory.empty, commits}
}

// replayCorpus returns the file with the current answers to its requests.
func replayCorpus(t *testing.T, servers map[string]*corpusServer, file string) string {
	t.Helper()
	var out, body strings.Builder
	var request []string // the lines of the request that is being read
	var server *corpusServer
	flush := func() {
		if len(request) > 0 {
			server.call(t, &out, request, strings.TrimSuffix(body.String(), "\n"))
		}
		request = nil
		body.Reset()
	}
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "$":
			if !strings.Contains(rest, ": ") {
				flush()
			}
			request = append(request, rest)
		case "|":
			body.WriteString(rest + "\n")
		case "<", ">", "=":
			continue
		default:
			flush()
			if kind == "%" {
				if server = servers[strings.TrimPrefix(rest, "service ")]; server == nil {
					t.Fatalf("there is no %s", rest)
				}
				server.reset()
			}
		}
		out.WriteString(line + "\n")
	}
	flush()
	return generated.ReplaceAllString(out.String(), "_generated")
}

// generated matches the end of a generated id: a UUIDv7.
var generated = regexp.MustCompile(`_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// usual are the headers of almost all answers: a recording shows if an answer lacks one.
var usual = []string{"Cache-Control: no-store", "Dormouse-Cluster: c1", "Dormouse-Node: n1", "X-Content-Type-Options: nosniff"}

// call makes a request and writes its answer.
func (s *corpusServer) call(t *testing.T, out *strings.Builder, request []string, body string) {
	t.Helper()
	method, path, _ := strings.Cut(request[0], " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, header := range request[1:] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	fmt.Fprintf(out, "< %d\n", w.Code)
	for _, name := range slices.Sorted(maps.Keys(w.Header())) {
		for _, value := range w.Header()[name] {
			if header := name + ": " + value; name != "Content-Length" && !slices.Contains(usual, header) {
				fmt.Fprintf(out, "< %s\n", header)
			}
		}
	}
	for _, header := range usual {
		if name, value, _ := strings.Cut(header, ": "); !slices.Contains(w.Header()[name], value) {
			fmt.Fprintf(out, "< without %s\n", header)
		}
	}
	for line := range bytes.Lines(w.Body.Bytes()) {
		fmt.Fprintf(out, "> %s\n", bytes.TrimSuffix(line, []byte("\n")))
	}
	for _, op := range s.commits() {
		encoded, err := json.Marshal(op, json.Deterministic(true), json.WithMarshalers(asText))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "= %T %s\n", op, encoded)
	}
}

// asText writes JSON in an op as a string, so that its bytes are visible, and durations as Go does.
var asText = json.JoinMarshalers(
	json.MarshalToFunc(func(enc *jsontext.Encoder, raw agent.JSON) error {
		if raw == nil {
			return enc.WriteToken(jsontext.Null)
		}
		return enc.WriteToken(jsontext.String(string(raw)))
	}),
	json.MarshalToFunc(func(enc *jsontext.Encoder, d time.Duration) error {
		return enc.WriteToken(jsontext.String(d.String()))
	}),
)
