package fsm_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"dormouse/agent"
)

// deletePrefix deletes at once: the machine must answer all reads and writes alike, though it removes
// the rows later.
func (m *model) deletePrefix(op *agent.DeletePrefix, got agent.OpResult) (agent.OpResult, agent.Code) {
	count := uint64(0)
	gone := func(key string) bool {
		if !strings.HasPrefix(key, op.Prefix) {
			return false
		}
		count++
		return true
	}
	switch op.Kind {
	case agent.ChangedValue:
		maps.DeleteFunc(m.values, func(key string, _ agent.Value) bool { return gone(key) })
	case agent.ChangedCheckpoint:
		maps.DeleteFunc(m.checkpoints, func(key string, _ []agent.Checkpoint) bool { return gone(key) })
	default:
		maps.DeleteFunc(m.threads, func(key string, _ modelThread) bool { return gone(key) })
	}
	d, ok := got.(*agent.PrefixDeletion)
	if !ok {
		return nil, ""
	}
	id, err := strconv.ParseUint(d.ID, 16, 64)
	if err != nil {
		panic(err)
	}
	m.born(id)
	m.deletions[d.ID] = count
	return &agent.PrefixDeletion{
		ID: d.ID, Kind: op.Kind, Prefix: op.Prefix, Index: d.Index, DeletedAt: m.now, Removed: d.Removed, CompletedAt: d.CompletedAt,
	}, ""
}

// sameDeletions compares the receipts with the model, and reports whether rows are left to remove: of
// deletions, or of what has expired behind a step of a deletion.
func sameDeletions(t *rapid.T, r *subject, m *model) (underWay bool) {
	t.Helper()
	for _, d := range read[*agent.DeletionList](r, &agent.ListDeletions{Page: agent.Page{Limit: agent.ListLimitMax}}).Items {
		want, known := m.deletions[d.ID]
		if !known || d.Removed > want || d.Complete() && d.Removed != want {
			t.Fatalf("the receipt is %+v, the model removed %d (%t)", d, want, known)
		}
		underWay = underWay || !d.Complete()
	}
	_, due := r.machine.Due()
	return underWay || len(m.deletions) > 0 && due != 0 && due <= r.wall
}

// sameLists compares the lists of values, checkpoints and threads with the model.
func sameLists(t *rapid.T, r *subject, m *model) {
	t.Helper()
	var values, checkpoints, threads []string
	for _, row := range read[*agent.ValueList](r, &agent.ListValues{}).Items {
		values = append(values, row.Key)
	}
	for _, row := range read[*agent.CheckpointList](r, &agent.ListCheckpoints{}).Items {
		checkpoints = append(checkpoints, row.Key)
	}
	for _, row := range read[*agent.ThreadList](r, &agent.ListThreads{}).Items {
		threads = append(threads, row.ID)
	}
	for what, both := range map[string][2][]string{
		"values":      {values, slices.Sorted(maps.Keys(m.values))},
		"checkpoints": {checkpoints, slices.Sorted(maps.Keys(m.checkpoints))},
		"threads":     {threads, slices.Sorted(maps.Keys(m.threads))},
	} {
		if !slices.Equal(both[0], both[1]) {
			t.Fatalf("the list of %s has %q, the model %q", what, both[0], both[1])
		}
	}
}

// drawDeletion draws a deletion by prefix. Keys are few, so that many are deleted while others are
// written.
func drawDeletion(t *rapid.T) *agent.DeletePrefix {
	op := &agent.DeletePrefix{
		Kind:   rapid.SampledFrom([]agent.ChangeKind{agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedThread}).Draw(t, "kind"),
		Prefix: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "prefix"),
	}
	op.All = op.Prefix == ""
	return op
}
