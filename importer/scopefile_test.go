package importer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/importer"
)

// rowStore has one scope with the given rows.
type rowStore struct {
	*memstore.Store
	layout.Operator // nil: only ExportScope is called
	rows            []agent.ScopeRow
	err             error // after the rows

	policy   agent.Policy
	own      bool
	declared []string

	importing string // the id of an import that has not ended
}

func (s *rowStore) ExportScope(_ context.Context, scope string, write func(agent.ScopePart) error) error {
	stored := agent.Scope{Name: scope, Keys: 2, Policy: s.policy, OwnPolicy: s.own, MetadataKeys: s.declared}
	header := agent.ScopeHeader{ClusterID: "c", Scope: stored, Index: 7, Minted: 8, FeatureLevel: 1, RowFormat: agent.ScopeRowFormat, Import: s.importing}
	if err := write(agent.ScopePart{Header: &header}); err != nil {
		return err
	}
	for _, row := range s.rows {
		if err := write(agent.ScopePart{Rows: agent.AppendScopeRow(nil, row)}); err != nil {
			return err
		}
	}
	return s.err
}

func rowOf(key, value string) agent.ScopeRow {
	return agent.ScopeRow{Key: []byte(key), Value: []byte(value)}
}

func scopeFile(tb testing.TB, rows ...agent.ScopeRow) []byte {
	tb.Helper()
	var out bytes.Buffer
	if _, err := importer.ExportScope(tb.Context(), &rowStore{Store: memstore.New(), rows: rows}, &out, importer.ScopeOptions{}); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func openerOf(file []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

func TestAScopeFileIsReadBackOrRefused(t *testing.T) {
	file := scopeFile(t, rowOf("a", "1"), rowOf("b", ""), rowOf("c", "3"))
	summary, err := importer.CheckScopeFile(openerOf(file))
	if err != nil || summary.Footer.Rows != 3 || summary.Footer.Bytes != 5 || summary.Header.ClusterID != "c" || summary.Header.Keys != 2 {
		t.Fatalf("%+v, %v", summary, err)
	}
	for n := range file {
		if _, err := importer.CheckScopeFile(openerOf(file[:n])); err == nil {
			t.Fatalf("cut short to %d of %d bytes it is taken for whole", n, len(file))
		}
		damaged := bytes.Clone(file)
		damaged[n] ^= 0x10
		if _, err := importer.CheckScopeFile(openerOf(damaged)); err == nil {
			t.Fatalf("with byte %d damaged it is taken for whole", n)
		}
	}
	if _, err := importer.CheckScopeFile(openerOf(append(bytes.Clone(file), 0))); err == nil || !strings.Contains(err.Error(), "follow its footer") {
		t.Errorf("with a byte more: %v", err)
	}
}

func TestRowsOutOfOrderAreRefused(t *testing.T) {
	for _, rows := range [][]agent.ScopeRow{{rowOf("b", ""), rowOf("a", "")}, {rowOf("a", ""), rowOf("a", "")}} {
		s := &rowStore{Store: memstore.New(), rows: rows}
		if _, err := importer.ExportScope(t.Context(), s, io.Discard, importer.ScopeOptions{}); err == nil || !strings.Contains(err.Error(), "does not come after") {
			t.Errorf("%v", err)
		}
	}
}

func TestAVerificationNamesTheRowsThatDiffer(t *testing.T) {
	file := scopeFile(t, rowOf("a", "1"), rowOf("b", "2"), rowOf("d", "4"))
	verify := func(rows ...agent.ScopeRow) importer.Differences {
		t.Helper()
		summary, err := importer.VerifyScope(t.Context(), &rowStore{Store: memstore.New(), rows: rows}, openerOf(file), importer.ScopeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return summary.Differences
	}
	if d := verify(rowOf("a", "1"), rowOf("b", "2"), rowOf("d", "4")); d.Count != 0 {
		t.Errorf("the same rows: %+v", d)
	}
	for range 100 { // the scope may come whole before or while the file is read
		d := verify(rowOf("a", "x"), rowOf("c", "3"), rowOf("d", "4"), rowOf("e", "5"))
		if d.Count != 4 {
			t.Fatalf("%+v", d)
		}
		for i, want := range []string{`"a" differs`, `"b" is in the file and not`, `"c" is in the scope and not`, `"e" is in the scope and not`} {
			if !strings.Contains(d.First[i], want) {
				t.Errorf("%+v", d)
			}
		}
	}
	broken := &rowStore{Store: memstore.New(), rows: []agent.ScopeRow{rowOf("a", "1")}, err: errors.New("the node is gone")}
	if _, err := importer.VerifyScope(t.Context(), broken, openerOf(file), importer.ScopeOptions{}); err == nil {
		t.Error("half an answer is taken for whole")
	}
}

// FuzzScopeFile reads arbitrary files. Each is refused, or read as its footer
// says.
func FuzzScopeFile(f *testing.F) {
	f.Add(scopeFile(f))
	f.Add(scopeFile(f, rowOf("a", "1"), rowOf("b", strings.Repeat("2", 300))))
	f.Add([]byte("DORMSCP\n\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, file []byte) {
		summary, err := importer.CheckScopeFile(openerOf(file))
		if err == nil && len(file) < int(summary.Footer.Bytes) {
			t.Fatalf("%d bytes hold %+v", len(file), summary.Footer)
		}
	})
}
