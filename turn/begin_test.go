package turn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

// blind is a service whose next reads fail.
type blind struct {
	agent.Service
	reads int
}

func (b *blind) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if b.reads > 0 {
		b.reads--
		return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "no linearizable read now")
	}
	return b.Service.Read(ctx, r)
}

// A turn that has its lease, and cannot read its session during an election, begins after it. It
// leaves no session behind that runs without a runner.
func TestATurnBeginsAlthoughReadsFail(t *testing.T) {
	sim(t, func(k *kit) {
		service := &blind{Service: k.service, reads: 3}
		k.runner.Service = service
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error { return nil })
		if err != nil || row.Status != agent.SessionFinished {
			k.Fatalf("%s, %v", row.Status, err)
		}
		service.reads = 1 << 30
		ctx, cancel := context.WithTimeout(k.Context(), 2*ttl)
		defer cancel()
		_, err = k.runner.Turn(ctx, "s", request("r2"), func(*turn.Turn) error { return nil })
		if agent.CodeOf(err) != agent.CodeUnknown {
			k.Errorf("the session runs, and its turn ends with %v", err)
		}
		k.expectStatus(agent.SessionRunning)
		time.Sleep(ttl + time.Second)
		service.reads = 0
		if row, err := k.runner.Recover(k.Context(), "s", func(*turn.Turn) error { return nil }); err != nil || row.Status != agent.SessionFinished {
			k.Errorf("%s, %v", row.Status, err)
		}
	})
}

// A turn whose journal this version does not read pauses: another version can resume it at once.
func TestATurnThatCannotReadItsJournalPauses(t *testing.T) {
	for name, state := range map[string]string{"newer": `{"version":99}`, "without a version": `{}`, "damaged": `{"version":"x"}`} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
					l := t.Session().Lease
					k.commit(&agent.CommitSession{
						Session: "s", LeaseID: l.LeaseID, Owner: l.Owner, Status: agent.SessionHibernated,
						Snapshots: []agent.SessionSnapshot{{ID: "foreign", Cursor: agent.Cursor{Phase: agent.PhaseWait}, TurnState: agent.JSON(state)}},
					})
					return nil
				})
				if !errors.Is(err, turn.ErrLost) {
					k.Fatal(err)
				}
				resumed := func(*turn.Turn) error { panic("the function ran without its journal") }
				if _, err = k.runner.Resume(k.Context(), "s", resumed); err == nil {
					k.Fatal("it read the journal")
				}
				if s := k.expectStatus(agent.SessionHibernated); s.Lease != nil || len(s.Snapshots) != 1 {
					k.Fatalf("%+v", s)
				}
			})
		})
	}
}

// refusing is a service whose reads are refused.
type refusing struct{ agent.Service }

func (refusing) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{}, agent.Errorf(agent.CodeForbidden, "this token may not read")
}

// A new turn whose reads are refused fails: it has no snapshot to be resumed from.
func TestATurnThatMayNotReadFails(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Service = refusing{k.service}
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error { return nil })
		if agent.CodeOf(err) != agent.CodeForbidden {
			k.Fatal(err)
		}
		if code := failureCode(k, k.expectStatus(agent.SessionFailed)); code != string(agent.CodeForbidden) {
			k.Fatalf("it failed with %q", code)
		}
	})
}
