package fsm

import (
	"fmt"
	"sync"

	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Code of seeded bugs that needs more than one line. It is only compiled with the build tag seeded.

// falsify changes an engine as if its snapshot had been made wrong: for
// seededbug.DedupeLostInSnapshot, seededbug.ReviewsLostInSnapshot and seededbug.SnapshotRunsAhead.
func falsify(engine *storage.Engine, header *snapfile.SnapshotHeader) error {
	b := engine.NewBatch()
	defer b.Close()
	var lost []string
	switch {
	case seededbug.Is(seededbug.DedupeLostInSnapshot):
		lost = []string{kv.KindClient, kv.KindAnswers}
	case seededbug.Is(seededbug.ReviewsLostInSnapshot):
		lost = []string{kv.KindReview}
	case seededbug.Is(seededbug.SnapshotRunsAhead):
		header.Index++
		headerProgress(header).Write(b)
	}
	for _, kind := range lost {
		b.DeleteRange([]byte(kind), []byte(kv.After(kind)))
	}
	return engine.Commit(b)
}

// fencesChecked holds the fences that an entry's commits have passed: for
// seededbug.FenceCheckedOnce.
var fencesChecked struct {
	mu     sync.Mutex
	index  uint64          // guarded by mu
	passed map[string]bool // guarded by mu
}

// checkedBefore reports whether an earlier commit of the entry passed with the same fence.
func checkedBefore(index uint64, scope string, fence *logpb.Fence) bool {
	fencesChecked.mu.Lock()
	defer fencesChecked.mu.Unlock()
	return fencesChecked.index == index && fencesChecked.passed[fmt.Sprint(scope, fence.Claim, fence.Epoch)]
}

// checked records that a commit of the entry passed with a fence.
func checked(index uint64, scope string, fence *logpb.Fence) {
	fencesChecked.mu.Lock()
	defer fencesChecked.mu.Unlock()
	if fencesChecked.index != index {
		fencesChecked.index, fencesChecked.passed = index, map[string]bool{}
	}
	fencesChecked.passed[fmt.Sprint(scope, fence.Claim, fence.Epoch)] = true
}
