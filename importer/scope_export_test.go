package importer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/importer"
)

// breakingStore exports the rows of one node after another: each ends with its error after its rows.
type breakingStore struct {
	rowStore
	nodes []rowStore
	asked int
}

func (s *breakingStore) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	node := &s.nodes[min(s.asked, len(s.nodes)-1)]
	s.asked++
	return node.ExportScope(ctx, scope, write)
}

var (
	errGone   = agent.Errorf(agent.CodeUnavailable, "the node stops")
	errDenied = agent.Errorf(agent.CodeForbidden, "not you")
)

// broken returns nodes that end with an error after one row each, and a last one that has all rows.
func broken(times int, err error, rows ...agent.ScopeRow) *breakingStore {
	s := &breakingStore{rowStore: rowStore{Store: memstore.New()}}
	for i := range times {
		s.nodes = append(s.nodes, rowStore{rows: []agent.ScopeRow{rowOf(fmt.Sprint("a", i), strings.Repeat("long", 100))}, err: err})
	}
	s.nodes = append(s.nodes, rowStore{rows: rows})
	return s
}

// TestAnExportToAFileBeginsAgain exports from nodes that stop in the middle, and reads the file back.
func TestAnExportToAFileBeginsAgain(t *testing.T) {
	rows := []agent.ScopeRow{rowOf("a", "1"), rowOf("b", "2")}
	for _, c := range []struct {
		name  string
		store *breakingStore
		code  agent.Code
		asked int
	}{
		{"no node stops", broken(0, nil, rows...), "", 1},
		{"two nodes stop", broken(2, errGone, rows...), "", 3},
		{"as many as may", broken(5, errGone, rows...), "", 6},
		{"one more", broken(6, errGone, rows...), agent.CodeUnavailable, 6},
		{"refused", broken(1, errDenied, rows...), agent.CodeForbidden, 1},
		{"no rows came, which the store has repeated by itself", &breakingStore{nodes: []rowStore{{err: errGone}, {rows: rows}}}, agent.CodeUnavailable, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "file"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close() //nolint:errcheck // it was read
			told, progress := 0, 0
			summary, err := importer.ExportScopeTo(t.Context(), c.store, file, importer.ScopeOptions{Progress: func(n int) { progress += n }}, func(err error) {
				if told++; !errors.Is(err, errGone) {
					t.Errorf("it begins again for %v", err)
				}
			})
			if agent.CodeOf(err) != c.code || c.store.asked != c.asked || told != c.asked-1 {
				t.Fatalf("%v after %d attempts, %d of them told; want %q after %d", err, c.store.asked, told, c.code, c.asked)
			}
			if err != nil {
				return
			}
			raw, err := os.ReadFile(file.Name())
			if err != nil || !bytes.Equal(raw, scopeFile(t, rows...)) || summary.Footer.Rows != 2 || progress != 2 {
				t.Errorf("the file is %q, %v; %+v; a progress of %d rows", raw, err, summary, progress)
			}
		})
	}
}

func TestAnExportEndsWithTheErrorOfItsFile(t *testing.T) {
	file, err := os.Open(os.DevNull) // which cannot be emptied
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	store := broken(1, errGone)
	if _, err := importer.ExportScopeTo(t.Context(), store, file, importer.ScopeOptions{}, nil); err == nil || store.asked > 0 {
		t.Errorf("%v, after %d attempts", err, store.asked)
	}
}

func TestAVerificationBeginsAgain(t *testing.T) {
	file := scopeFile(t, rowOf("a", "1"), rowOf("b", "2"))
	for range 300 { // a node may end before or after its first row is compared
		store, progress := broken(2, errGone, rowOf("a", "1"), rowOf("b", "3")), 0
		summary, err := importer.VerifyScope(t.Context(), store, openerOf(file), importer.ScopeOptions{Progress: func(n int) { progress += n }})
		if err != nil || store.asked != 3 || summary.Differences.Count != 1 || progress != 2 {
			t.Fatalf("%+v, %v, after %d attempts and %d rows", summary, err, store.asked, progress)
		}
	}
}
