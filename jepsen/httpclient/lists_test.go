package httpclient_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

func TestAListHasACallOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		read agent.Read
		path string // "" if it is only a read among others
	}{
		{&agent.ListValues{Page: agent.Page{Prefix: "a/é", Limit: 2, Order: agent.Descending}}, "/v1/values?limit=2&order=desc&prefix=a%2F%C3%A9"},
		{&agent.ListValues{Where: agent.Where{{Key: "k", Value: "v"}}}, ""},
		{&agent.ListThreads{Page: agent.Page{After: "t"}}, "/v1/threads?after=t"},
		{&agent.ListSessions{Owner: "o", Agent: "a", Recoverable: true}, "/v1/sessions?agent_id=a&owner=o&recoverable=true"},
		{&agent.ListReviews{Session: "x", Page: agent.Page{Limit: 3}}, "/v1/reviews?limit=3&session=x"},
		{&agent.ListMemories{Agent: "a"}, "/v1/memory?agent_id=a"},
		{&agent.ListTimers{Manager: "m", Key: "k/1"}, "/v1/managers/m/instances/k%2F1/timers"},
		{&agent.ListTimers{Manager: "m"}, "/v1/managers/m/timers"},
		{&agent.ListMessages{ConversationRef: agent.ConversationRef{ID: "c", Owner: "o"}, Tail: 1}, "/v1/conversations/c/messages?owner_id=o&tail=1"},
		{&agent.CheckpointHistory{Key: "c"}, "/v1/checkpoints/c/history"},
		{&agent.Thaw{Key: "c", Tail: new(uint64(0))}, "/v1/agents/c/thaw?tail=0"},
		{&agent.Thaw{Key: "c", Revision: 1}, ""},
		{&agent.GetValue{Key: "a/1"}, "/v1/values/a%2F1"},
		{&agent.LoadEntries{Thread: "t", From: 1, AtRev: new(uint64(3)), Order: agent.Descending}, "/v1/threads/t/entries?at_rev=3&from=1&order=desc"},
		{&agent.LoadEntries{Thread: "t", Kinds: []string{"k"}}, ""},
	} {
		call, _, is := httpclient.ReadAlone(agent.Reads{Scope: "s", Reads: []agent.Read{c.read}})
		if is != (c.path != "") || call.Path != c.path {
			t.Errorf("%T: %t, %q, want %q", c.read, is, call.Path, c.path)
		}
	}
}
