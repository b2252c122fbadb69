package agent_test

import (
	"errors"
	"strings"
	"testing"

	"dormouse/agent"
)

// quotedText returns a JSON string of that many bytes.
func quotedText(bytes int) agent.JSON { return agent.JSON(`"` + strings.Repeat("x", bytes-2) + `"`) }

// objectOf returns a JSON object of that many bytes.
func objectOf(bytes int) agent.JSON { return agent.JSON(`{"x":` + string(quotedText(bytes-6)) + `}`) }

// Each limit of sessions and reviews accepts its last byte, and the error past it
// names the limit.
func TestSessionLimitsHoldAtTheirEdge(t *testing.T) {
	reviews := func(n int) []agent.ReviewDraft {
		all := make([]agent.ReviewDraft, n)
		for i := range all {
			all[i].ID = "v"
		}
		return all
	}
	snapshots := func(n int) []agent.SessionSnapshot {
		all := make([]agent.SessionSnapshot, n)
		for i := range all {
			all[i] = agent.SessionSnapshot{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseWait}}
		}
		return all
	}
	for limit, c := range map[string]struct {
		most int
		op   func(size int) agent.Op
	}{
		"session_id_bytes_max": {agent.SessionIDBytesMax, func(n int) agent.Op {
			return &agent.PutSession{Session: strings.Repeat("s", n), Agent: "a"}
		}},
		"session_bytes_max": {agent.SessionBytesMax, func(n int) agent.Op {
			return &agent.PutSession{
				Session: "s", Agent: "a", Spec: objectOf(1000), Result: quotedText(n - 2000), Conversation: &agent.Conversation{AgentState: objectOf(1000)},
			}
		}},
		"session_revision_max": {agent.SessionRevisionMax, func(n int) agent.Op {
			at := uint64(n)
			return &agent.PutSession{Session: "s", Agent: "a", IfRevision: &at}
		}},
		"session_request_bytes_max": {agent.SessionRequestBytesMax, func(n int) agent.Op {
			return &agent.ClaimSession{Session: "s", Owner: "w", Request: &agent.SessionRequest{ID: "q", Input: quotedText(n - 100), Metadata: objectOf(100)}}
		}},
		"session_snapshot_bytes_max": {agent.SessionSnapshotBytesMax, func(n int) agent.Op {
			s := snapshots(1)[0]
			s.TurnState, s.Metadata = objectOf(n-100), objectOf(100)
			return &agent.CheckpointSession{Session: "s", Snapshot: s}
		}},
		"session_snapshots_max": {agent.SessionSnapshotsMax, func(n int) agent.Op {
			return &agent.CommitSession{Session: "s", Status: agent.SessionFinished, Snapshots: snapshots(n)}
		}},
		"session_reviews_max": {agent.SessionReviewsMax, func(n int) agent.Op {
			return &agent.CommitSession{Session: "s", Status: agent.SessionWaiting, Reviews: reviews(n)}
		}},
		"review_bytes_max": {agent.ReviewBytesMax, func(n int) agent.Op {
			d := agent.ReviewDraft{ID: "v", Arguments: objectOf(n - 200), Metadata: objectOf(100), Reason: strings.Repeat("x", 100)}
			return &agent.CommitSession{Session: "s", Status: agent.SessionWaiting, Reviews: []agent.ReviewDraft{d}}
		}},
	} {
		within := agent.Commit{Ops: []agent.Op{c.op(c.most)}}
		if err := within.Validate(); err != nil {
			t.Errorf("%s: %d: %v", limit, c.most, err)
		}
		past := agent.Commit{Ops: []agent.Op{c.op(c.most + 1)}}
		var e *agent.Error
		if err := past.Validate(); !errors.As(err, &e) || e.Code != agent.CodeTooLarge || !strings.HasPrefix(e.Limit, limit+"=") {
			t.Errorf("%s: %d: %v", limit, c.most+1, err)
		}
	}
}

func TestAQueueIsNoLongerThanItMayBe(t *testing.T) {
	for size, fits := range map[uint64]bool{agent.SessionQueueMax: true, agent.SessionQueueMax + 1: false} {
		c := agent.Commit{Ops: []agent.Op{&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{QueueMax: size}}}}
		if err := c.Validate(); (err == nil) != fits {
			t.Errorf("queue_max = %d: %v", size, err)
		}
	}
}

// Each epoch has exactly one lease id.
func TestALeaseIDNamesAnEpoch(t *testing.T) {
	for _, epoch := range []uint64{1, 65537, 1<<64 - 1} {
		if got := agent.LeaseEpoch(agent.LeaseID(epoch)); got != epoch {
			t.Errorf("%d became %d", epoch, got)
		}
	}
	for _, id := range []string{"", "lease_", "lease_0x1", "lease_01", "lease_+1", "Lease_1", "1", "lease_18446744073709551616"} {
		if got := agent.LeaseEpoch(id); got != 0 {
			t.Errorf("%q names epoch %d", id, got)
		}
	}
}

// One read must return the largest possible session.
func TestASessionFitsInAnAnswer(t *testing.T) {
	whole := agent.SessionBytesMax + agent.SessionKeptBytesMax + agent.SessionQueueBytesMax + agent.SessionReviewsMax*agent.ReviewBytesMax
	if whole > agent.ReadBytesMax {
		t.Errorf("a session may have %d bytes, an answer %d", whole, agent.ReadBytesMax)
	}
	if newest := agent.SessionRequestBytesMax + agent.SessionSnapshotBytesMax; newest > agent.SessionKeptBytesMax {
		t.Errorf("the newest request and snapshot may have %d bytes, more than the %d that are kept", newest, agent.SessionKeptBytesMax)
	}
}

// Text that is not UTF-8 cannot be encoded: one such op would break the connection that calls share.
func TestTextThatTheStoreSetsIsUTF8(t *testing.T) {
	for name, op := range map[string]agent.Op{
		"the owner of a request":   &agent.ClaimSession{Session: "s", Owner: "o", Request: &agent.SessionRequest{ID: "r", Owner: "\xff"}},
		"the outcome of a request": &agent.ClaimSession{Session: "s", Owner: "o", Request: &agent.SessionRequest{ID: "r", Outcome: "\xff"}},
		"the name of a scope":      &agent.ImportScope{ID: "i", Scope: &agent.Scope{Name: "\xff"}},
		"a metadata key":           &agent.ImportScope{ID: "i", Scope: &agent.Scope{Name: "s", MetadataKeys: []string{"k", "\xff"}}},
	} {
		c := agent.Commit{Ops: []agent.Op{op}}
		if err := c.Validate(); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
