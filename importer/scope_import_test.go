package importer_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/importer"
)

// target is a store that a scope is imported into.
type target struct {
	rowStore
	level    uint32 // its feature level
	chunks   uint64 // that an earlier run has applied
	finishes int    // how often Finish is sent until the import has ended
	lost     bool   // rows are not stored
	steps    []agent.ImportScope
}

func newTarget(rows ...agent.ScopeRow) *target {
	return &target{rowStore: rowStore{Store: memstore.New(), rows: rows}, level: 1, chunks: uint64(len(rows)), finishes: 1}
}

func (s *target) Status(context.Context) (layout.ClusterStatus, error) {
	return layout.ClusterStatus{FeatureLevel: s.level}, nil
}

func (s *target) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	var result agent.Result
	for _, op := range c.Ops {
		step := op.(*agent.ImportScope)
		s.steps = append(s.steps, *step)
		s.importing = step.ID
		done := false
		switch {
		case step.Finish:
			s.finishes--
			if done = s.finishes == 0; done {
				s.importing = ""
			}
		case step.Scope == nil:
			if step.Chunk != s.chunks {
				return result, agent.Errorf(agent.CodeConflict, "chunk %d comes after %d", step.Chunk, s.chunks)
			}
			s.chunks++
			if !s.lost {
				row, _, err := agent.NextScopeRow(step.Rows)
				if err != nil {
					return result, err
				}
				s.rows = append(s.rows, row)
			}
		}
		result.Results = append(result.Results, &agent.ImportResult{Chunks: s.chunks, Done: done})
	}
	return result, nil
}

// An import continues behind the chunks that an earlier run has applied, and ends it once it has ended.
func TestAnImportContinuesBehindWhatIsThere(t *testing.T) {
	rows := []agent.ScopeRow{rowOf("a", "1"), rowOf("b", "2"), rowOf("c", "3")}
	file := scopeFile(t, rows...)
	for applied := range 4 {
		s := newTarget(rows[:applied]...)
		s.finishes = 3
		progress := 0
		summary, err := importer.ImportScope(t.Context(), s, openerOf(file), importer.ScopeOptions{Progress: func(n int) { progress += n }})
		if err != nil || summary.Resumed != uint64(applied) || summary.Differences.Count != 0 || progress != 3 {
			t.Fatalf("%d: %+v, %v, %d rows", applied, summary, err, progress)
		}
		if len(s.steps) != 1+3-applied+3 || s.steps[0].Scope == nil || s.steps[0].Minted != 8 {
			t.Errorf("%d: %+v", applied, s.steps)
		}
		for _, step := range s.steps {
			if step.ID != s.steps[0].ID || !strings.Contains(step.ID, summary.Footer.Digest) {
				t.Errorf("%d: a step of the import %q", applied, step.ID)
			}
		}
	}
}

// A scope stays closed if its rows are not those of the file.
func TestAnImportThatDiffersIsNotFinished(t *testing.T) {
	s := newTarget()
	s.lost = true
	_, err := importer.ImportScope(t.Context(), s, openerOf(scopeFile(t, rowOf("a", "1"))), importer.ScopeOptions{})
	if err == nil || !strings.Contains(err.Error(), "stays closed") {
		t.Error(err)
	}
	for _, step := range s.steps {
		if step.Finish {
			t.Error("the import is finished")
		}
	}
}

// Rows mean the same only at one feature level.
func TestAFileOfAnotherFeatureLevelIsRefused(t *testing.T) {
	s := newTarget()
	s.level = 2
	_, err := importer.ImportScope(t.Context(), s, openerOf(scopeFile(t, rowOf("a", "1"))), importer.ScopeOptions{})
	if err == nil || !strings.Contains(err.Error(), "feature level 1") || len(s.steps) != 0 {
		t.Errorf("%v after %d steps", err, len(s.steps))
	}
}

// A scope whose import has not ended has only a part of its rows.
func TestAScopeThatIsBeingImportedIsNotRead(t *testing.T) {
	row := rowOf("a", "1")
	s := newTarget(row)
	s.importing = "import:of another file"
	if _, err := importer.ExportScope(t.Context(), s, io.Discard, importer.ScopeOptions{}); err == nil || !strings.Contains(err.Error(), "is being imported") {
		t.Errorf("export: %v", err)
	}
	if _, err := importer.VerifyScope(t.Context(), s, openerOf(scopeFile(t, row)), importer.ScopeOptions{}); err == nil || !strings.Contains(err.Error(), "is being imported") {
		t.Errorf("verify: %v", err)
	}
}
