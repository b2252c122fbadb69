package history_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"dormouse/jepsen/history"
)

// record writes a history with f and returns its path.
func record(tb testing.TB, f func(*history.Recorder)) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "history.jsonl")
	r, err := history.Create(path, history.Header{Workloads: []string{"w"}, Seed: 7, Nodes: 3, Command: "dormjepsen run"})
	if err != nil {
		tb.Fatal(err)
	}
	f(r)
	if err := r.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func read(tb testing.TB, path string) *history.History {
	tb.Helper()
	h, err := history.Read(path)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// three records one call of each outcome, one that never returned, and an event.
func three(r *history.Recorder) {
	op := history.Op{Workload: "w", Process: 1, Node: "n1", Call: "put", Key: "k", In: json.RawMessage(`{"a":"<é>"}`)}
	r.Return(r.Invoke(op), json.RawMessage(`{"rev":1}`))
	r.Fail(r.Invoke(op), history.Refused, "conflict", "not at rev 3")
	r.Event(history.Event{Kind: history.EventFault, Name: "kill", Step: 1, Node: "n2", Data: json.RawMessage(`[1]`)})
	r.Fail(r.Invoke(op), history.Unknown, "unknown", "it may yet apply")
	r.Invoke(op)
}

func TestWhatIsRecordedIsReadBack(t *testing.T) {
	h := read(t, record(t, three))
	if h.Cut || h.Header.Seed != 7 || h.Header.Format != history.Format || len(h.Ops) != 4 || len(h.Events) != 1 {
		t.Fatalf("read back %+v", h)
	}
	want := []history.Outcome{history.OK, history.Refused, history.Unknown, history.Unknown}
	for i, op := range h.Ops {
		if op.ID != int64(i+1) || op.Outcome != want[i] || op.Process != 1 || string(op.In) != `{"a":"<é>"}` {
			t.Errorf("call %d: %+v", i, op)
		}
		if lost := op.Outcome == history.Unknown; lost != (op.Return == history.Never) || op.Return < op.Invoke {
			t.Errorf("call %d is %s and returns at %d", i, op.Outcome, op.Return)
		}
		if i > 0 && op.Invoke < h.Ops[i-1].Invoke {
			t.Errorf("call %d was invoked before the one before it", i)
		}
	}
	if string(h.Ops[0].Out) != `{"rev":1}` || h.Ops[1].Code != "conflict" || h.Ops[2].Detail != "it may yet apply" {
		t.Errorf("answers: %+v", h.Ops)
	}
	if e := h.Events[0]; e.Name != "kill" || e.Node != "n2" || e.At < h.Ops[1].Return || e.At > h.Ops[2].Invoke {
		t.Errorf("event: %+v", e)
	}
}

func TestAPackedHistoryIsReadAlike(t *testing.T) {
	path := record(t, three)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := pack(t, raw, 0)
	if plain, again := read(t, path), read(t, packed); !reflect.DeepEqual(plain, again) {
		t.Errorf("plain %+v, packed %+v", plain, again)
	}
	if cut := read(t, pack(t, raw, 20)); !cut.Cut {
		t.Error("a packed file that ends early is not told from a whole one")
	}
}

// pack writes raw with gzip, without the last cut bytes.
func pack(t *testing.T, raw []byte, cut int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(info.Size() - cut); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAnInterruptedRunCanBeJudged truncates the file at every third byte after the
// header.
func TestAnInterruptedRunCanBeJudged(t *testing.T) {
	path := record(t, three)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := strings.IndexByte(string(raw), '\n') + 1
	for end := header; end < len(raw)-1; end += 3 {
		if err := os.WriteFile(path, raw[:end], 0o644); err != nil {
			t.Fatal(err)
		}
		h, err := history.Read(path)
		if err != nil || !h.Cut {
			t.Fatalf("cut at byte %d of %d: %+v, %v", end, len(raw), h, err)
		}
	}
}

func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	const header = `{"header":{"format":1}}` + "\n"
	for name, text := range map[string]string{
		"empty":          "",
		"something else": "hello\n",
		"no header":      `{"event":{"kind":"note"}}` + "\n",
		"other format":   `{"header":{"format":99}}` + "\n",
		"bad line":       header + "{\n" + `{"event":{"kind":"note"}}` + "\n",
		"empty line":     header + "{}\n" + `{"event":{"kind":"note"}}` + "\n",
		"stray return":   header + `{"return":{"id":4,"outcome":"ok"}}` + "\n" + `{"closed":true}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if h, err := history.Read(path); err == nil {
			t.Errorf("%s: read as %+v", name, h)
		}
	}
}

func TestAHistoryIsNeverWrittenOver(t *testing.T) {
	if _, err := history.Create(record(t, three), history.Header{}); err == nil {
		t.Error("a history that was there already was written over")
	}
}

func TestManyProcessesRecordAtOnce(t *testing.T) {
	const processes, calls = 16, 200
	var mu sync.Mutex
	seen := 0
	path := record(t, func(r *history.Recorder) {
		r.Watch(func(op history.Op) {
			mu.Lock()
			defer mu.Unlock()
			if op.Call == "put" && op.Return >= op.Invoke && op.Outcome == history.OK {
				seen++
			}
		})
		var all sync.WaitGroup
		for id := range processes {
			all.Go(func() {
				for n := range calls {
					in := json.RawMessage(fmt.Sprint(n))
					r.Return(r.Invoke(history.Op{Workload: "w", Process: id, Call: "put", Key: "k", In: in}), in)
				}
			})
		}
		all.Wait()
	})
	h := read(t, path)
	next := map[int]int{}
	for _, op := range h.Ops {
		if n, err := history.Decode[int](op.Out); err != nil || n != next[op.Process] || op.Outcome != history.OK {
			t.Fatalf("process %d, call %d: %+v", op.Process, next[op.Process], op)
		}
		next[op.Process]++
	}
	if len(h.Ops) != processes*calls || seen != processes*calls {
		t.Errorf("%d calls read back, %d seen, of %d", len(h.Ops), seen, processes*calls)
	}
}

func TestPartsOfAHistory(t *testing.T) {
	h := &history.History{Ops: []history.Op{{ID: 1, Workload: "a", Key: "x"}, {ID: 2, Workload: "b", Key: "x"}, {ID: 3, Workload: "a", Key: "y"}, {ID: 4, Workload: "a", Key: "x"}}}
	a := h.Of("a")
	if len(a.Ops) != 3 || len(a.ByKey()["x"]) != 2 || a.ByKey()["x"][1].ID != 4 {
		t.Errorf("of a: %+v", a)
	}
	if _, err := history.Decode[int](json.RawMessage(`"x"`)); err == nil {
		t.Error("a string was decoded as a number")
	}
}

// aCall returns a call of typical size and its answer.
func aCall() (history.Op, json.RawMessage) {
	return history.Op{Workload: "append", Process: 1, Node: "n1", Call: "append", Key: "t1", In: json.RawMessage(`{"ids":["a1","a2"],"rev":7}`)},
		json.RawMessage(`{"rev":9,"first":7,"head":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}`)
}

func BenchmarkRecord(b *testing.B) {
	op, out := aCall()
	b.ReportAllocs()
	record(b, func(r *history.Recorder) {
		for b.Loop() {
			r.Return(r.Invoke(op), out)
		}
	})
}

func BenchmarkReadAMillionCalls(b *testing.B) {
	op, out := aCall()
	path := record(b, func(r *history.Recorder) {
		for range 1_000_000 {
			r.Return(r.Invoke(op), out)
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		read(b, path)
	}
}
