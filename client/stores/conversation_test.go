package stores_test

import (
	"context"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/client/stores"
	"dormouse/node/nodetest"
)

func TestConversationsAreLoadedSavedAndListed(t *testing.T) {
	ctx := t.Context()
	var store stores.ConversationStore = stores.Conversations{Scope: nodetest.Start(t).Scope}
	mine := agent.ConversationRef{ID: "c", Agent: "a", Owner: "u"}
	state := agent.JSON(`{"version":2,"state":{"messages":[]}}`)
	number, err := store.Pend(ctx, mine, agent.JSON(`{"text":"are you there?"}`))
	if err != nil || number != 1 {
		t.Fatalf("pended as %d: %v", number, err)
	}
	_, err = store.Load(ctx, mine) // it exists, but has no state
	want(t, err, agent.CodeNotFound)
	revision, err := store.Save(ctx, agent.SaveConversation{ConversationRef: mine, Lifecycle: agent.LifecycleInterrupt, State: state, Consumed: number})
	if err != nil || revision != 1 {
		t.Fatalf("saved as revision %d: %v", revision, err)
	}
	got, err := store.Load(ctx, mine)
	if err != nil || string(got.State) != string(state) || len(got.Pending) != 0 {
		t.Fatalf("loaded %+v, %v", got, err)
	}
	_, err = store.Load(ctx, agent.ConversationRef{ID: "c", Owner: "v"})
	want(t, err, agent.CodeForbidden)
	_, err = store.Save(ctx, agent.SaveConversation{ConversationRef: mine, Lifecycle: agent.LifecycleCompletion, State: agent.JSON(`{"version":2,"state":{}}`)})
	want(t, err, agent.CodeRevisionMismatch)
	waiting := func() (ids string) {
		for row, err := range store.Interrupted(ctx) {
			want(t, err, "")
			ids += row.ID
		}
		return ids
	}
	if ids := waiting(); ids != "c" {
		t.Errorf("%q wait", ids)
	}
	want(t, store.SetInterrupted(ctx, mine, false), "")
	if ids := waiting(); ids != "" {
		t.Errorf("%q wait still", ids)
	}
	want(t, store.Delete(ctx, mine), "")
	want(t, store.Delete(ctx, mine), "")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = store.Load(ended, mine) // unavailable is not absent
	want(t, err, agent.CodeUnavailable)
}

func TestMessagesChangeInTheirPlace(t *testing.T) {
	ctx := t.Context()
	var store stores.MessageStore = stores.Conversations{Scope: nodetest.Start(t).Scope}
	c := agent.ConversationRef{ID: "c"}
	many := make([]agent.MessageDraft, 2*agent.ListLimitDefault)
	for i := range many {
		many[i] = agent.MessageDraft{Role: agent.RoleUser}
	}
	_, err := store.SaveMessages(ctx, c, many...)
	want(t, err, "")
	_, err = store.SaveMessages(ctx, c,
		agent.MessageDraft{Role: agent.RoleAssistant, Type: "tool_call", ToolCall: "t"},
		agent.MessageDraft{Role: agent.RoleTool, Type: "tool_result", ToolCall: "t", Content: agent.JSON(`{"text":"interrupted"}`)})
	want(t, err, "")
	found, err := store.SetToolStatus(ctx, c, "t", agent.ToolInterrupted)
	if err != nil || !found {
		t.Errorf("status of a call that is shown: %v, %v", found, err)
	}
	found, err = store.SetToolStatus(ctx, c, "u", agent.ToolInterrupted)
	if err != nil || found {
		t.Errorf("status of a call that is not: %v, %v", found, err)
	}
	found, err = store.ResolveToolResult(ctx, c, "t", agent.JSON(`{"text":"42"}`))
	if err != nil || !found {
		t.Errorf("resolved: %v, %v", found, err)
	}
	n, last := uint64(0), []agent.Message(nil)
	for m, err := range store.Messages(ctx, c) {
		want(t, err, "")
		if m.Seq != n {
			t.Fatalf("message %d comes as number %d", m.Seq, n)
		}
		n++
		last = append(last, m)
	}
	if n != uint64(len(many))+2 || last[n-2].Status != agent.ToolCompleted || string(last[n-1].Content) != `{"text":"42"}` {
		t.Errorf("%d messages; the last two are %+v", n, last[len(last)-2:])
	}
	for _, err := range store.Messages(ctx, agent.ConversationRef{ID: "never"}) {
		want(t, err, agent.CodeNotFound)
	}
}

func TestFilesAreReadMovedAndListed(t *testing.T) {
	ctx := t.Context()
	var files stores.FileStore = stores.Files{Scope: nodetest.Start(t).Scope}
	bytes := []byte("\x00\xff\r\n")
	revision, err := files.Write(ctx, stores.File{Path: "/a/draft", ContentType: "text/plain", Bytes: bytes, Metadata: agent.JSON(`{"title":"A"}`)})
	if err != nil || revision != 1 {
		t.Fatalf("written as revision %d: %v", revision, err)
	}
	want(t, files.UpdateMetadata(ctx, "/a/draft", agent.JSON(`{"n":1}`)), "")
	want(t, files.Move(ctx, "/a/draft", "/done"), "")
	want(t, files.Move(ctx, "/a/draft", "/done"), agent.CodeNotFound)
	_, err = files.Write(ctx, stores.File{Path: "/other"})
	want(t, err, "")
	want(t, files.Move(ctx, "/other", "/done"), agent.CodeAlreadyExists)
	got, err := files.Read(ctx, "/done")
	if err != nil || string(got.Bytes) != string(bytes) || string(got.Metadata) != `{"title":"A","n":1}` {
		t.Errorf("read %+v, %v", got, err)
	}
	var paths []string
	for f, err := range files.List(ctx, "") {
		want(t, err, "")
		paths = append(paths, f.Path)
	}
	if all := strings.Join(paths, " "); all != "/done /other" {
		t.Errorf("listed %q", all)
	}
	want(t, files.Delete(ctx, "/done"), "")
	want(t, files.Delete(ctx, "/done"), "")
	_, err = files.Read(ctx, "/done")
	want(t, err, agent.CodeNotFound)
	for _, path := range []string{"", "relative", "/../up", "/a\x00"} {
		_, err := files.Read(ctx, path)
		want(t, err, agent.CodeInvalid)
		_, err = files.Write(ctx, stores.File{Path: path})
		want(t, err, agent.CodeInvalid)
		want(t, files.Move(ctx, "/other", path), agent.CodeInvalid)
		want(t, files.Move(ctx, path, "/other"), agent.CodeInvalid)
		want(t, files.UpdateMetadata(ctx, path, agent.JSON(`{}`)), agent.CodeInvalid)
		want(t, files.Delete(ctx, path), agent.CodeInvalid)
	}
	_, err = files.Write(ctx, stores.File{Path: "/big", Bytes: make([]byte, agent.ValueBytesMax+1)})
	want(t, err, agent.CodeTooLarge)
}
