package command_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/command"
)

func TestExitCodesAreTheOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   int
		stderr string
		broken error
		want   agent.Code // "" means that it is done
	}{
		{"done", 0, "", nil, ""},
		{"a conflict", 4, `{"error":{"code":"revision_mismatch","message":"m","revision":3}}`, nil, agent.CodeRevisionMismatch},
		{"not applied", 5, `{"error":{"code":"unavailable","message":"m"}}`, nil, agent.CodeUnavailable},
		{"not applied, it says, whatever the document says", 5, `{"error":{"code":"unknown","message":"m"}}`, nil, agent.CodeUnavailable},
		{"unknown", 6, `{"error":{"code":"unknown","message":"m"}}`, nil, agent.CodeUnknown},
		{"unknown, it says, whatever the document says", 6, `{"error":{"code":"unavailable","message":"m"}}`, nil, agent.CodeUnknown},
		{"failed", 1, `{"error":{"code":"failed","message":"m"}}`, nil, agent.CodeUnknown},
		{"killed", -1, "", errors.New("killed"), agent.CodeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran []string
			ctl := &command.Ctl{ID: "p", Run: func(_ context.Context, _ []byte, stdout io.Writer, args ...string) ([]byte, int, error) {
				ran = args
				_, _ = io.WriteString(stdout, `{"index":7,"time":1,"results":[{"op":"put_value","key":"k","incarnation":1,"revision":1}]}`)
				return []byte(c.stderr), c.code, c.broken
			}}
			r, err := client.In(ctl, "s").PutValue(t.Context(), agent.PutValue{Key: "k", Bytes: []byte("v")})
			if got := agent.CodeOf(err); got != c.want || err == nil && r.Revision != 1 {
				t.Errorf("the outcome is %q (%v), want %q", got, err, c.want)
			}
			if !slices.Equal(ran[:4], []string{"commit", "-", "--request-id", "p/1"}) {
				t.Errorf("it ran dormctl %v", ran)
			}
			_, err = client.In(ctl, "s").DeleteValue(t.Context(), agent.DeleteValue{Key: "k"})
			if got := agent.CodeOf(err); got != c.want || !slices.Equal(ran[:5], []string{"values", "rm", "k", "--request-id", "p/2"}) {
				t.Errorf("dormctl %v: the outcome is %q (%v), want %q", ran, got, err, c.want)
			}
		})
	}
}

// TestEachOpHasItsCommand makes each commit twice: as dormctl commit, and as the command of its op.
func TestEachOpHasItsCommand(t *testing.T) {
	zero, at := uint64(0), agent.Fence{Claim: "c", Epoch: 7}
	for _, c := range []struct {
		op    agent.Op
		args  string // without the request id and the global flags
		stdin string
		says  string
	}{
		{&agent.PutValue{Key: "k", Bytes: []byte("v\x00"), IfRevision: &zero, TTL: time.Second, SkipExisting: true}, "values put k - --if-revision 0 --ttl 1s --skip-existing", "v\x00", `{"key":"k","revision":1}`},
		{&agent.PutValue{Key: "k", IfBytes: new([]byte)}, "commit -", "", ""},
		{&agent.DeleteValue{Key: "k", IfIncarnation: 3, Seal: time.Minute}, "values rm k --if-incarnation 3 --seal 1m0s", "", ""},
		{&agent.AppendThread{Thread: "t", ExpectedRev: &zero, Entries: []agent.Draft{{ID: "e", Kind: "k"}}}, "threads append t --entries - --expected-rev 0", `[{"id":"e","kind":"k"}]`, `{"id":"t","rev":1,"head":"` + strings.Repeat("00", 32) + `"}`},
		{&agent.TakeClaim{Claim: "l", Holder: "h", TTL: time.Second}, "claims take l --holder h --ttl 1s", "", `{"name":"l","epoch":7}`},
		{&agent.RenewClaim{Claim: "l", Holder: "h", Epoch: 7}, "claims renew l --holder h --epoch 7", "", `{"name":"l","epoch":7}`},
		{&agent.ReleaseClaim{Claim: "l", Holder: "h", Epoch: 7, To: "i", TTL: time.Second}, "claims release l --holder h --epoch 7 --to i --ttl 1s", "", `{"name":"l"}`},
		{&agent.ClaimSession{Session: "s", Owner: "o", TTL: time.Second, Request: &agent.SessionRequest{ID: "r", Input: agent.JSON(`1`)}}, "sessions claim s --owner o --request r --input 1 --ttl 1s", "", `{}`},
		{&agent.ClaimSession{Session: "s", Owner: "o"}, "sessions claim s --owner o", "", `{}`},
		{&agent.ResumeSession{Session: "s", Owner: "o"}, "sessions resume s --owner o", "", `{}`},
		{&agent.RecoverSession{Session: "s", Owner: "o"}, "sessions recover s --owner o", "", `{}`},
		{&agent.RenewSession{Session: "s", Owner: "o", LeaseID: "l"}, "sessions renew s --owner o --lease l", "", `{}`},
		{&agent.CompactThread{Thread: "t"}, "commit -", "", ""},
		{
			&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"a":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 2}, IfRevision: &zero, TTL: time.Second},
			"checkpoints put k - --thread t --rev 2 --ttl 1s --if-revision 0", `{"a":1}`, `{"key":"k","revision":1}`,
		},
		{&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{}`), Thread: &agent.Pointer{Thread: "t", Incarnation: 3}}, "commit -", "", ""},
		{&agent.DeleteCheckpoint{Key: "k", IfIncarnation: 3, Seal: time.Minute}, "checkpoints rm k --if-incarnation 3 --seal 1m0s", "", ""},
		{
			&agent.WriteMemory{Agent: "a", ID: "i", Content: "what it is", Tags: []string{"x", "y"}, Embedding: []float32{1, -0.5}, IfRevision: &zero},
			"memory put a what it is --id i --tag x --tag y --embedding [1,-0.5] --if-revision 0", "", `{}`,
		},
		{&agent.WriteMemory{Agent: "a", ID: "i", Content: "c", ExpiresAt: 1}, "commit -", "", ""},
		{&agent.DeleteMemory{Agent: "a", ID: "i", IfIncarnation: 3}, "memory rm a i --if-incarnation 3", "", ""},
		{&agent.DecideReview{Review: "r", Decision: agent.DecideApprove, By: "me", Note: "well"}, "reviews approve r --by me --note well", "", `{}`},
		{&agent.DecideReview{Review: "r", Decision: agent.DecideEdit, By: "me", Arguments: agent.JSON(`{"x":1}`)}, `reviews edit r {"x":1} --by me`, "", `{}`},
	} {
		var ran, input []string
		ctl := &command.Ctl{ID: "p", Run: func(_ context.Context, stdin []byte, stdout io.Writer, args ...string) ([]byte, int, error) {
			i := slices.Index(args, "--request-id")
			ran, input = append(ran, strings.Join(args[:i], " ")), append(input, string(stdin))
			_, _ = io.WriteString(stdout, c.says)
			return nil, 0, nil
		}}
		commit := agent.Commit{Scope: "s", Fence: &at, Ops: []agent.Op{c.op}}
		_, _ = ctl.Commit(t.Context(), commit) // dormctl commit
		_, err := ctl.Commit(t.Context(), commit)
		want := c.args
		if !strings.HasPrefix(want, "commit") {
			want += " --fence c@7"
		}
		if ran[0] != "commit -" || ran[1] != want || !strings.HasPrefix(want, "commit") && (err != nil || input[1] != c.stdin) {
			t.Errorf("%T: dormctl %q with %q, %v; want %q with %q", c.op, ran, input, err, want, c.stdin)
		}
	}
}

func TestAWatchIsACommand(t *testing.T) {
	const none agent.EventKind = -1
	for _, c := range []struct {
		name   string
		watch  agent.Watch
		stdout string
		code   int
		stderr string
		args   string
		events int
		last   agent.EventKind
		err    agent.Code
	}{
		{"a thread", agent.Watch{Thread: "t", From: 3}, `{"seq":3}{"seq":4}`, 5, `{"error":{"code":"unavailable"}}`, "threads watch t --from 3", 2, agent.EventEntry, agent.CodeUnavailable},
		{"a thread that is deleted", agent.Watch{Thread: "t"}, `{"seq":0}`, 3, `{"error":{"code":"not_found"}}`, "threads watch t --from 0", 1, agent.EventEntry, agent.CodeNotFound},
		{"a thread that is compacted", agent.Watch{Thread: "t"}, ``, 3, `{"error":{"code":"compacted","floor":5}}`, "threads watch t --from 0", 1, agent.EventCompacted, ""},
		{"changes", agent.Watch{Changes: true, From: 1, Prefix: "values/"}, `{"index":4,"ordinal":1,"kind":"value","key":"k"}`, 0, "", "watch values/ --from 0", 1, agent.EventChanges, agent.CodeInternal},
		{"changes from a place", agent.Watch{Changes: true, From: 4, Skip: 2, Prefix: "values/"}, `half`, 0, "", "watch values/ --from 4.1", 0, none, agent.CodeInternal},
		{"an incarnation", agent.Watch{Thread: "t", Incarnation: 7}, "", 0, "", "", 0, none, agent.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := ""
			ctl := &command.Ctl{ID: "p", Run: func(_ context.Context, _ []byte, stdout io.Writer, args ...string) ([]byte, int, error) {
				ran = strings.Join(args, " ")
				_, _ = io.WriteString(stdout, c.stdout)
				return []byte(c.stderr), c.code, nil
			}}
			events, last, code := 0, none, agent.Code("")
			for e, err := range ctl.Watch(t.Context(), c.watch) {
				if err != nil {
					code = agent.CodeOf(err)
					continue
				}
				events, last = events+1, e.Kind
			}
			if events != c.events || last != c.last || code != c.err || c.args != "" && ran != c.args+" --output json" {
				t.Errorf("dormctl %q tells of %d events, the last of kind %d, and ends with %q", ran, events, last, code)
			}
		})
	}
}

// TestAWatchIsLeft ends the command of a watch, also while it writes.
func TestAWatchIsLeft(t *testing.T) {
	ended := make(chan struct{})
	ctl := &command.Ctl{Run: func(ctx context.Context, _ []byte, stdout io.Writer, _ ...string) ([]byte, int, error) {
		defer close(ended)
		for {
			if _, err := io.WriteString(stdout, `{"seq":1}`); err != nil {
				<-ctx.Done()
				return nil, 0, ctx.Err()
			}
		}
	}}
	for _, err := range ctl.Watch(t.Context(), agent.Watch{Thread: "t"}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	<-ended
}

func TestAReadIsACommand(t *testing.T) {
	for _, c := range []struct {
		read agent.Read
		args string
		code int
		says string
		want string // the answer, or the code of its error
	}{
		{&agent.GetClaim{Claim: "l"}, "claims get l", 0, `{"name":"l","holder":"h","epoch":7}`, "h"},
		{&agent.GetClaim{Claim: "l"}, "claims get l", 3, `{"error":{"code":"not_found"}}`, "not_found"},
		{&agent.GetValue{Key: "k"}, "values get k", 0, `{"key":"k","bytes":"dg==","incarnation":1,"revision":1}`, "v"},
		{&agent.GetReview{Review: "r"}, "reviews get r", 3, `{"error":{"code":"not_found"}}`, "not_found"},
		{&agent.GetMemory{Agent: "a", ID: "i"}, "memory get a", 3, `{"error":{"code":"not_found"}}`, "not_found"},
		{&agent.LoadEntries{Thread: "t"}, "", 0, "", "unavailable"}, // over gRPC
	} {
		ran := ""
		ctl := &command.Ctl{Reads: away{}, Run: func(_ context.Context, _ []byte, stdout io.Writer, args ...string) ([]byte, int, error) {
			ran = strings.Join(args[:3], " ")
			_, _ = io.WriteString(stdout, c.says)
			return []byte(c.says), c.code, nil
		}}
		answers, err := ctl.Read(t.Context(), agent.Reads{Scope: "s", Reads: []agent.Read{c.read}})
		got := string(agent.CodeOf(err))
		if err == nil {
			switch found := answers.Answers[0].Found.(type) {
			case *agent.Claim:
				got = found.Holder
			case *agent.Value:
				got = string(found.Bytes)
			default:
				got = string(answers.Answers[0].Err.Code)
			}
		}
		if got != c.want || ran != c.args {
			t.Errorf("%T: dormctl %q, %q, want %q", c.read, ran, got, c.want)
		}
	}
}

// away is a service that is away.
type away struct{ agent.Service }

func (away) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "it is away")
}
