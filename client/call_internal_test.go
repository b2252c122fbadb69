package client

import (
	"testing"

	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// closedClient returns a client that starts no attempts: a call that would be retried ends at once.
func closedClient(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(Options{Endpoints: []string{"127.0.0.1:1"}, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// inFlight returns a commit with an attempt, and what becomes of it.
func inFlight(t *testing.T, c *Client) (k *call, f *flight, outcomes *[]error) {
	t.Helper()
	k, err := c.prepare(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}})
	if err != nil {
		t.Fatal(err)
	}
	outcomes = new([]error)
	k.done = func(_ agent.Result, err error) { *outcomes = append(*outcomes, err) }
	k.flight = &flight{call: k, link: newLink(t.Context(), "127.0.0.1:1", nil, nil, func() {})}
	k.attempts = 2
	return k, k.flight, outcomes
}

// An attempt that was never sent says nothing about an earlier one that may have been applied: its loss does not turn an
// unknown outcome into a refusal.
func TestAnAttemptThatWasNotSentLeavesTheOutcomeUnknown(t *testing.T) {
	c := closedClient(t)
	for name, end := range map[string]func(k *call, f *flight){
		"the time is up":        func(k *call, _ *flight) { k.ended() },
		"the connection breaks": func(k *call, f *flight) { k.broken(f, false) },
	} {
		for earlier, want := range map[bool]agent.Code{true: agent.CodeUnknown, false: agent.CodeUnavailable} {
			k, f, outcomes := inFlight(t, c)
			k.undecided = earlier
			end(k, f)
			if len(*outcomes) != 1 || agent.CodeOf((*outcomes)[0]) != want {
				t.Errorf("%s, with an earlier attempt that may have been applied = %t: %v, want %s", name, earlier, *outcomes, want)
			}
		}
	}
}

// The log's answer to an attempt that was given up settles the call, whatever the attempt after it does. A refusal of
// a node does not.
func TestALateAnswerOfTheLogSettlesACommit(t *testing.T) {
	c := closedClient(t)
	fenced, busy := agent.Errorf(agent.CodeFenced, "the claim has another holder"), agent.Errorf(agent.CodeOverloaded, "later")
	fenced.Final = true
	refusal := func(e *agent.Error) *apipb.Reply {
		return &apipb.Reply{Reply: &apipb.Reply_Error{Error: ops.ErrorToProto(e)}}
	}
	for _, each := range []struct {
		reply *apipb.Reply
		want  agent.Code
		ended bool
	}{
		{&apipb.Reply{Reply: &apipb.Reply_Commit{Commit: &apipb.CommitResponse{Index: 7}}}, "", true},
		{refusal(fenced), agent.CodeFenced, true},
		{refusal(busy), "", false},
	} {
		k, current, outcomes := inFlight(t, c)
		k.replied(&flight{call: k, link: current.link}, each.reply)
		if ended := len(*outcomes) == 1; ended != each.ended || ended && agent.CodeOf((*outcomes)[0]) != each.want {
			t.Errorf("%v: %v", each.reply, *outcomes)
		}
		if !each.ended && k.flight != current {
			t.Error("the refusal of an earlier attempt has ended the current one")
		}
	}
}
