package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

var restoring = fault{
	name: "backup", about: "the cluster is backed up, and restored to one log index beside it: the restored state must hold exactly the writes up to that index",
	needs: []testbed.Capability{testbed.CanBackup, testbed.CanCommand},
	variants: []variant{
		{name: "to a point in time", nodesMin: 1, shortest: 8 * time.Second, longest: 15 * time.Second, mends: 10 * time.Second, begin: restorePoint},
	},
}

// markScope is the scope of the marks, and markEvery how often one is written.
const (
	markScope = "marks"
	markEvery = 50 * time.Millisecond
)

// mark is an acknowledged write of the step.
type mark struct {
	key   string
	index uint64
}

// restorePoint writes marks and takes a backup among them. Afterwards it restores the
// cluster at the index of a random mark on another machine, and compares the marks there
// with the acknowledged ones.
func restorePoint(ctx context.Context, a *act) (undo, error) {
	a.begins("marks every %v, and a backup among them", markEvery)
	var marks []mark
	var unknown []string
	writing := a.background(ctx, func(ctx context.Context) {
		for n := 0; pause.For(ctx, markEvery); n++ {
			key := fmt.Sprintf("%d-%d", a.N, n)
			call, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			r, err := a.operator.Commit(call, agent.Commit{Scope: markScope, Ops: []agent.Op{&agent.PutValue{Key: key, Bytes: []byte(key)}}})
			cancel()
			switch agent.OutcomeOf(err) {
			case agent.Done:
				marks = append(marks, mark{key, r.Index})
			case agent.Undecided:
				unknown = append(unknown, key)
			case agent.Refused:
			}
		}
	})
	var taken error
	backing := a.background(ctx, func(ctx context.Context) {
		if pause.For(ctx, between(a.draw, 0, a.For/3)) {
			taken = dormctl(ctx, a, "backup", "now")
		}
	})
	return func(ctx context.Context) error {
		writing()
		backing()
		if taken != nil {
			a.note("the backup among the marks was not taken: %v", oneLine(taken))
		}
		if len(marks) == 0 {
			a.note("no mark was written")
			return nil
		}
		return restoreAt(ctx, a, marks, unknown, marks[a.draw.IntN(len(marks))].index)
	}, nil
}

// restoreAt restores the cluster at an index and judges the marks there.
func restoreAt(ctx context.Context, a *act, marks []mark, unknown []string, index uint64) error {
	h, err := a.Bed.AddHost(ctx)
	if err != nil {
		return err
	}
	a.seat(h, false)
	dir, args := h.RestoreArgs(index)
	for {
		_, err = a.Bed.Offline(ctx, args...)
		if err == nil || !pause.For(ctx, time.Second) {
			break
		}
	}
	if err != nil { // the log of the last seconds is shipped later
		return fmt.Errorf("restore at entry %d: %w", index, err)
	}
	h.Apart(dir)
	defer func() { err = errors.Join(err, a.kill(h), h.Discard()) }()
	a.mayExit(h, "any")
	if err = h.Start(ctx); err == nil {
		err = h.Ready(ctx)
	}
	if err != nil {
		a.broken(h, "a restored node does not start", "restored at entry %d: %v", index, err)
		return err
	}
	there, err := marksOn(ctx, a, h)
	if err != nil {
		return err
	}
	a.note("the state restored at entry %d holds %d of %d marks", index, len(there), len(marks))
	for _, rule := range wrongMarks(there, marks, unknown, index) {
		a.broken(h, "a restored state is another one", "%s", rule)
	}
	return nil
}

// marksOn returns the keys of the marks of this step on a host's node.
func marksOn(ctx context.Context, a *act, h *testbed.Host) (map[string]bool, error) {
	c, err := a.Dial(h.GRPC())
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // no call is in progress
	there, page := map[string]bool{}, agent.Page{Prefix: strconv.Itoa(a.N) + "-", Limit: agent.ListLimitMax}
	for {
		list, err := client.In(c, markScope).ListValues(ctx, page)
		if err != nil {
			return nil, fmt.Errorf("read the restored marks: %w", err)
		}
		for _, row := range list.Items {
			there[row.Key] = true
		}
		if page.After = list.Next; page.After == "" {
			return there, nil
		}
	}
}

// wrongMarks returns how the marks in a state as of an index differ from the
// acknowledged ones, a line each.
func wrongMarks(there map[string]bool, marks []mark, unknown []string, index uint64) []string {
	var wrong []string
	known := map[string]bool{}
	for _, key := range unknown {
		known[key] = true
	}
	for _, m := range marks {
		known[m.key] = true
		switch {
		case m.index <= index && !there[m.key]:
			wrong = append(wrong, fmt.Sprintf("it lacks mark %s of entry %d, and was restored at entry %d", m.key, m.index, index))
		case m.index > index && there[m.key]:
			wrong = append(wrong, fmt.Sprintf("it holds mark %s of entry %d, and was restored at entry %d", m.key, m.index, index))
		}
	}
	for key := range there {
		if !known[key] {
			wrong = append(wrong, fmt.Sprintf("it holds mark %s, which was refused or never written", key))
		}
	}
	return wrong
}
