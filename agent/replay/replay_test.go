package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/replay"
)

// tell returns a timeline as text, one event in each line.
func tell(r *replay.Replay) string {
	var b strings.Builder
	for _, e := range r.Timeline {
		seq := "-"
		if e.Seq != nil {
			seq = fmt.Sprint(*e.Seq)
		}
		fmt.Fprintf(&b, "%d %s %s %s %s %s\n", e.At, e.What, seq, e.ID, e.By, e.Status)
	}
	return b.String()
}

func entry(seq uint64, at int64, kind, payload, refs string) agent.Entry {
	return agent.Entry{ID: fmt.Sprintf("e%d", seq), Seq: seq, At: at, Kind: kind, Payload: agent.JSON(payload), Refs: agent.JSON(refs)}
}

func TestATimelineIsInOrderAndTellsEachThingOnce(t *testing.T) {
	row := agent.SessionRow{ID: "s", CreatedAt: 10}
	for name, c := range map[string]struct {
		session agent.Session
		found   replay.Found
		want    string
	}{
		"a new session": {want: "10 created - s  \n"},
		"a fork": {
			session: agent.Session{Lineage: &agent.Lineage{Session: "p", Snapshot: "n"}},
			want:    "10 forked - p  \n",
		},
		"requests come before entries of their time, snapshots after": {
			session: agent.Session{
				Requests:  []agent.SessionRequest{{ID: "r", At: 20, Owner: "w", Outcome: agent.RequestFinished}},
				Snapshots: []agent.SessionSnapshot{{ID: "n", At: 20, RequestID: "r", Cursor: agent.Cursor{Phase: agent.PhaseWait}}},
			},
			found: replay.Found{Entries: []agent.Entry{entry(0, 20, "message", `{}`, `{}`)}},
			want:  "10 created - s  \n20 request - r w finished\n20 entry 0 e0  \n20 snapshot - n  wait\n",
		},
		"entries keep the order of seq whatever time they claim": {
			session: agent.Session{Queue: []agent.SessionRequest{{ID: "q", At: 40}}},
			found:   replay.Found{Entries: []agent.Entry{entry(3, 50, "note", `{}`, `{}`), entry(4, 5, "note", `{}`, `{}`), entry(5, 60, "note", `{}`, `{}`)}},
			want:    "10 created - s  \n40 queued - q  \n50 entry 3 e3  \n5 entry 4 e4  \n60 entry 5 e5  \n",
		},
		"entries of another session are left out": {
			found: replay.Found{Entries: []agent.Entry{entry(0, 20, "note", `{}`, `{"session_id":"other"}`), entry(1, 20, "note", `{}`, `{"session_id":"s"}`)}},
			want:  "10 created - s  \n20 entry 1 e1  \n",
		},
		"an effect that was journaled twice is told once, its intent and its result apart": {
			found: replay.Found{Entries: []agent.Entry{
				entry(0, 20, "tool_call", `{}`, `{"request_id":"r","effect_id":"x","event":"intent"}`),
				entry(1, 21, "tool_call", `{}`, `{"request_id":"r","effect_id":"x","event":"intent"}`),
				entry(2, 22, "tool_result", `{"effect_id":"x","event":"result"}`, `{"request_id":"r"}`),
				entry(3, 23, "tool_result", `{"effect_id":"x","event":"result"}`, `{"request_id":"r"}`),
				entry(4, 24, "tool_result", `{"effect_id":"x","event":"result"}`, `{"request_id":"another"}`),
			}},
			want: "10 created - s  \n20 entry 0 e0  \n22 entry 2 e2  \n24 entry 4 e4  \n",
		},
		"an event with a number of its own is told once in its request": {
			found: replay.Found{Entries: []agent.Entry{
				entry(0, 20, "note", `{"seq":1}`, `{"request_id":"r"}`), entry(1, 21, "note", `{"seq":1}`, `{"request_id":"r"}`),
				entry(2, 22, "note", `{"seq":2}`, `{"request_id":"r"}`), entry(3, 23, "note", `{"seq":2}`, `{}`), entry(4, 24, "note", `{"seq":2}`, `{}`),
			}},
			want: "10 created - s  \n20 entry 0 e0  \n22 entry 2 e2  \n23 entry 3 e3  \n24 entry 4 e4  \n",
		},
		"messages that are equal are two": {
			found: replay.Found{Entries: []agent.Entry{entry(0, 20, "message", `{}`, `{"request_id":"r"}`), entry(1, 20, "message", `{}`, `{"request_id":"r"}`)}},
			want:  "10 created - s  \n20 entry 0 e0  \n20 entry 1 e1  \n",
		},
		"a decision is told by the thread where that has it": {
			found: replay.Found{
				Entries: []agent.Entry{entry(0, 30, agent.KindReviewDecision, `{"review_id":"q","status":"approved","operation":"rm","by":"ann"}`, `{"session_id":"s","request_id":"r"}`)},
				Reviews: []agent.Review{
					{ID: "q", RequestID: "r", Operation: "rm", Status: agent.ReviewApproved, CreatedAt: 20, DecidedAt: 30, DecidedBy: "ann", Escalated: true, EscalateAt: 25, EscalateTo: "bob"},
					{ID: "p", Status: agent.ReviewExpired, CreatedAt: 21, DecidedAt: 31},
				},
			},
			want: "10 created - s  \n20 review - q  \n21 review - p  \n25 review_escalated - q bob \n30 review_decided 0 e0 ann approved\n31 review_decided - p  expired\n",
		},
		"checkpoints and the lease": {
			session: agent.Session{SessionRow: agent.SessionRow{Lease: &agent.Lease{LeaseID: "l", Owner: "w", AcquiredAt: 15}}},
			found:   replay.Found{Checkpoints: []agent.CheckpointRow{{Key: "c", Revision: 2, UpdatedAt: 30, Lifecycle: "idle"}, {Key: "c", Revision: 1, UpdatedAt: 20}}},
			want:    "10 created - s  \n15 lease - l w \n20 checkpoint - c  \n30 checkpoint - c  idle\n",
		},
		"what is no JSON of ours": {
			found: replay.Found{Entries: []agent.Entry{entry(0, 20, "note", `{"seq":{},"event":[],"effect_id":null}`, `{"request_id":true}`)}},
			want:  "10 created - s  \n20 entry 0 e0  \n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lease := c.session.Lease
			c.session.SessionRow = row
			c.session.Lease = lease
			if got := tell(replay.Of(&c.session, c.found)); got != c.want {
				t.Errorf("it tells\n%swant\n%s", got, c.want)
			}
		})
	}
}

// asked answers reads with the data of a session, with pages of two entries.
func asked(t *testing.T, s *agent.Session, all []agent.Entry) func(...agent.Read) (agent.Answers, error) {
	t.Helper()
	return func(reads ...agent.Read) (agent.Answers, error) {
		var out agent.Answers
		for _, r := range reads {
			switch q := r.(type) {
			case *agent.GetSession:
				out.Answers = append(out.Answers, agent.Answer{Found: s})
			case *agent.ListReviews:
				out.Answers = append(out.Answers, agent.Answer{Found: &agent.ReviewList{Items: []agent.Review{{ID: "q", Status: agent.ReviewPending, CreatedAt: 2}}}})
			case *agent.LoadEntries:
				from := int(q.From)
				if q.Tail > 0 {
					from = len(all) - int(q.Tail)
				}
				page := &agent.Entries{Thread: agent.Thread{Rev: uint64(len(all))}, Items: all[from:min(from+2, len(all))]}
				if next := uint64(from + 2); int(next) < len(all) {
					page.Next = &next
				}
				out.Answers = append(out.Answers, agent.Answer{Found: page})
			default:
				out.Answers = append(out.Answers, agent.Answer{Err: agent.ErrNotFound})
			}
		}
		return out, nil
	}
}

func TestASessionIsReadWithAllThatBelongsToIt(t *testing.T) {
	var all []agent.Entry
	for seq := range uint64(5) {
		all = append(all, entry(seq, 10, "note", `{"n":1}`, `{}`))
	}
	s := &agent.Session{SessionRow: agent.SessionRow{
		ID: "s", CreatedAt: 1, SessionSettings: agent.SessionSettings{Thread: "t", Checkpoint: "gone"},
	}}
	for _, c := range []struct {
		tail   uint64
		events int
		from   uint64
	}{{0, 7, 0}, {3, 5, 2}} {
		r, err := replay.Read(asked(t, s, all), "s", c.tail, 0)
		if err != nil || len(r.Timeline) != c.events || r.FromSeq != c.from {
			t.Errorf("with a tail of %d: %+v, %v", c.tail, r, err)
		}
	}
	if _, err := replay.Read(asked(t, s, all), "s", 0, 8); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("past its bound: %v", err)
	}
	broken := func(...agent.Read) (agent.Answers, error) {
		return agent.Answers{Answers: []agent.Answer{{Err: agent.ErrNotFound}}}, nil
	}
	if _, err := replay.Read(broken, "s", 0, 0); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("a session that is not there: %v", err)
	}
}
