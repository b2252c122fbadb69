package importer_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/importer"
	"dormouse/internal/fakestore"
)

// filled is a store with something of everything.
func filled(t *testing.T) *fakestore.Store {
	t.Helper()
	s := fakestore.New()
	if _, err := importer.Import(t.Context(), s, transcripts(t, lines), importer.Options{Parallel: 1}); err != nil {
		t.Fatal(err)
	}
	at := int64(17)
	for _, op := range []agent.Op{
		&agent.PutValue{Key: "v", ContentType: "text/plain", Bytes: []byte{0, 255, '<'}},
		&agent.AppendThread{Thread: "own ids", Metadata: agent.JSON(`{"m":1.50}`), Entries: []agent.Draft{
			{ID: "first", At: &at, Kind: "note", Payload: agent.JSON(`{"<":1e2}`), Refs: agent.JSON(`{"r":"\u00e9"}`)},
		}},
		&agent.AppendThread{Thread: "empty"},
		&agent.PutCheckpoint{
			Key: "older", State: agent.JSON(`{"n":9007199254740993}`), Metadata: agent.JSON(`{"k":"&"}`), Lifecycle: "idle", Version: 7,
			Thread: &agent.Pointer{Thread: "c1", Rev: 2},
		},
		&agent.PutCheckpoint{Key: "alone", State: agent.JSON(`{}`)},
	} {
		if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func exported(t *testing.T, s agent.Service) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := importer.Export(t.Context(), s, &out, importer.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func opener(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func TestAnExportComesBackTheSame(t *testing.T) {
	text := exported(t, filled(t))
	for _, want := range []string{
		`{"value":{"key":"v","content_type":"text/plain","bytes":"AP88"}}`,
		`"state":{"n":9007199254740993}`, `"payload":{"<":1e2},"refs":{"r":"\u00e9"}`, `"metadata":{"m":1.50}`,
		`{"end":{"values":1,"checkpoints":4,"threads":4,"entries":8}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the export lacks %s:\n%s", want, text)
		}
	}
	s := fakestore.New()
	summary, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{})
	if err != nil || summary.Differences.Count > 0 || summary.Records != (importer.EndRecord{Values: 1, Checkpoints: 4, Threads: 4, Entries: 8}) {
		t.Fatalf("summary %+v, %v", summary, err)
	}
	if again := exported(t, s); again != text {
		t.Errorf("the second export differs:\n%s\n%s", text, again)
	}
	verified, err := importer.VerifyRaw(t.Context(), s, opener(text), importer.RawOptions{})
	if err != nil || verified.Differences.Count > 0 {
		t.Errorf("verify: %+v, %v", verified, err)
	}
	before := len(s.Commits)
	if again, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{}); err != nil || again.Differences.Count > 0 || len(s.Commits) != before {
		t.Errorf("a second import: %+v, %v, %d more commits", again, err, len(s.Commits)-before)
	}
}

func TestARawImportGoesOnWhereTheThreadEnds(t *testing.T) {
	long := fakestore.New()
	if _, err := long.Commit(t.Context(), agent.Commit{Ops: []agent.Op{
		&agent.AppendThread{Thread: "long", Entries: make([]agent.Draft, 600)},
	}}); err != nil {
		t.Fatal(err)
	}
	text := exported(t, long)
	s := fakestore.New()
	s.Before = func(agent.Commit) error {
		if len(s.Commits) == 1 {
			return agent.Errorf(agent.CodeInternal, "the process dies here")
		}
		return nil
	}
	if _, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{}); err == nil {
		t.Fatal("the first run did not fail")
	}
	if rev := found[*agent.Thread](t, s, &agent.GetThread{Thread: "long"}).Rev; rev == 0 || rev == 600 {
		t.Fatalf("the first run ended at rev %d, not in between", rev)
	}
	s.Before = nil
	summary, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{})
	if err != nil || summary.Differences.Count > 0 {
		t.Fatalf("summary %+v, %v", summary, err)
	}
	if exported(t, s) != text {
		t.Error("the import that was taken up differs")
	}
}

func TestWhatDiffersFromAnExportIsFound(t *testing.T) {
	text := exported(t, filled(t))
	for _, test := range []struct {
		name string
		op   agent.Op
		want string
	}{
		{"a value", &agent.PutValue{Key: "v", ContentType: "text/plain", Bytes: []byte("x")}, `value "v"`},
		{"a checkpoint", &agent.PatchCheckpoint{Key: "alone", Patch: agent.JSON(`{"a":1}`)}, `checkpoint "alone"`},
		{"a longer thread", &agent.AppendThread{Thread: "c1", Entries: []agent.Draft{{}}}, `thread "c1"`},
		{"a thread that is gone", &agent.DeleteThread{Thread: "empty"}, `thread "empty"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := filled(t)
			if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{test.op}}); err != nil {
				t.Fatal(err)
			}
			verified, err := importer.VerifyRaw(t.Context(), s, opener(text), importer.RawOptions{})
			if err != nil || !strings.Contains(strings.Join(verified.Differences.First, "\n"), test.want) {
				t.Errorf("verify: %+v, %v; want %q", verified, err, test.want)
			}
		})
	}
}

func TestARawImportLeavesOtherContentAlone(t *testing.T) {
	text := exported(t, filled(t))
	s := fakestore.New()
	for _, op := range []agent.Op{
		&agent.PutValue{Key: "v", Bytes: []byte("mine")},
		&agent.AppendThread{Thread: "c1", Entries: []agent.Draft{{}}},
		&agent.PutCheckpoint{Key: "alone", State: agent.JSON(`{"mine":1}`)},
	} {
		if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	summary, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(summary.Differences.First, "\n")
	for _, want := range []string{`value "v"`, `thread "c1"`, `checkpoint "alone"`, `checkpoint "c1"`, `checkpoint "older"`} {
		if !strings.Contains(told, want) {
			t.Errorf("differences %q lack %s", told, want)
		}
	}
	if got := string(found[*agent.Value](t, s, &agent.GetValue{Key: "v"}).Bytes); got != "mine" {
		t.Errorf("the value is %q", got)
	}
}

func TestACompactedThreadIsExportedButCannotComeBack(t *testing.T) {
	s := filled(t)
	if _, err := s.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.CompactThread{Thread: "c1", BeforeSeq: 2, Summary: agent.JSON(`{"s":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	text := exported(t, s)
	if verified, err := importer.VerifyRaw(t.Context(), s, opener(text), importer.RawOptions{}); err != nil || verified.Differences.Count > 0 {
		t.Errorf("verify: %+v, %v", verified, err)
	}
	summary, err := importer.ImportRaw(t.Context(), fakestore.New(), opener(text), importer.RawOptions{})
	if err != nil || !strings.Contains(strings.Join(summary.Differences.First, "\n"), "compacted below 2") {
		t.Errorf("summary %+v, %v", summary, err)
	}
}

func TestWhatHasExpiredStaysBehind(t *testing.T) {
	text := `{"export":{"format":1,"scope":"default"}}
{"value":{"key":"gone","content_type":"","bytes":"","expires_at":1}}
{"checkpoint":{"key":"gone","version":1,"state":{},"metadata":{},"expires_at":1}}
{"end":{"values":1,"checkpoints":1,"threads":0,"entries":0}}
`
	s := fakestore.New()
	if _, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{}); err != nil || len(s.Commits) > 0 {
		t.Fatalf("%d commits, %v", len(s.Commits), err)
	}
	soon := time.Now().Add(time.Hour).UnixMilli()
	text = strings.ReplaceAll(text, `"expires_at":1`, `"expires_at":`+strconv.FormatInt(soon, 10))
	if _, err := importer.ImportRaw(t.Context(), s, opener(text), importer.RawOptions{}); err != nil || len(s.Commits) != 2 {
		t.Fatalf("%d commits, %v", len(s.Commits), err)
	}
	if ttl := s.Commits[0].Ops[0].(*agent.PutValue).TTL; ttl <= 0 || ttl > time.Hour {
		t.Errorf("ttl %v", ttl)
	}
}

func TestBadExportsAreRefusedByLine(t *testing.T) {
	begin, end := `{"export":{"format":1,"scope":"s"}}`+"\n", `{"end":{"values":0,"checkpoints":0,"threads":0,"entries":0}}`+"\n"
	for name, test := range map[string]struct{ text, want string }{
		"empty":               {"", "the end is missing"},
		"transcripts":         {lines, "line 1"},
		"no beginning":        {end, "line 1: not an export"},
		"a newer format":      {`{"export":{"format":2,"scope":"s"}}`, "format 2"},
		"cut short":           {begin, "after line 1: the end is missing"},
		"not JSON":            {begin + "{", "line 2"},
		"an empty record":     {begin + "{}\n" + end, "line 2: an empty record"},
		"an unknown record":   {begin + `{"x":{}}` + "\n" + end, "line 2"},
		"a count that is off": {begin + `{"value":{"key":"k","content_type":"","bytes":""}}` + "\n" + end, "line 3: the export says"},
		"more after the end":  {begin + end + end, "line 3: something follows"},
		"entries out of order": {
			begin + `{"thread":{"id":"t","rev":2,"head":"","metadata":{}}}` + "\n" +
				`{"entry":{"seq":1,"id":"a","at":1,"kind":"k","payload":{},"refs":{}}}` + "\n" +
				`{"end":{"values":0,"checkpoints":0,"threads":1,"entries":1}}`,
			"line 3: entry 1",
		},
	} {
		_, err := importer.ImportRaw(t.Context(), fakestore.New(), opener(test.text), importer.RawOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
