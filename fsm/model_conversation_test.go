package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/fsm"
	"dormouse/storage"
)

// talk is the model of conversations during an op to which the machine answered got: the machine
// chooses incarnations.
type talk struct {
	now    int64
	got    agent.OpResult
	sealed map[string]int64
}

func (h talk) Now() int64 { return h.now }

func (h talk) Born() uint64 {
	if got, ok := h.got.(*agent.ConversationResult); ok {
		return got.Conversation.Incarnation
	}
	return 0
}

func (h talk) Enter(id string, wanted, current uint64) *agent.Error {
	if current == 0 && h.sealed[id] > h.now || wanted != 0 && wanted != current {
		return &agent.Error{Code: agent.CodeDeleted}
	}
	return nil
}

func (h talk) Seal(id string, _ uint64, seal time.Duration) {
	if seal > 0 {
		h.sealed[id] = max(h.sealed[id], h.now+seal.Milliseconds())
	}
}

var (
	talkers    = rapid.SampledFrom([]string{"", "", "x", "y"})
	lifecycles = rapid.SampledFrom([]agent.Lifecycle{
		agent.LifecycleCompletion, agent.LifecycleCancel, agent.LifecycleError, agent.LifecycleInterrupt, agent.LifecycleTitleGenerated, agent.LifecycleShutdown,
	})
	toolStatuses = rapid.SampledFrom([]agent.ToolStatus{agent.ToolExecuting, agent.ToolCompleted, agent.ToolFailed})
)

// drawTalk draws an op that is often valid: it looks at the model.
func drawTalk(t *rapid.T, m memstore.ConversationModel) agent.Op {
	id := keys.Draw(t, "conversation")
	c := m[id]
	if c == nil {
		c = &memstore.ModelConversation{}
	}
	ref := agent.ConversationRef{ID: id, IfIncarnation: incarnation(t, c.Incarnation)}
	if rapid.IntRange(0, 4).Draw(t, "named") == 0 {
		ref.Agent, ref.Owner = talkers.Draw(t, "agent"), talkers.Draw(t, "owner")
	}
	text := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "text")
	switch rapid.IntRange(0, 10).Draw(t, "op") {
	case 0, 1, 2:
		revision := c.Revision
		if wrong := near(t, c.Revision); wrong != nil {
			revision = *wrong
		}
		return &agent.SaveConversation{
			ConversationRef: ref, Revision: revision, Lifecycle: lifecycles.Draw(t, "lifecycle"), State: blob(text),
			Title: rapid.SampledFrom([]string{"", text}).Draw(t, "title"), Consumed: rapid.Uint64Range(0, c.Consumed+2).Draw(t, "consumed"),
		}
	case 3:
		return &agent.SetInterrupted{ConversationRef: ref, Interrupted: rapid.Bool().Draw(t, "interrupted")}
	case 4, 5:
		return &agent.PendMessage{ConversationRef: ref, Message: agent.JSON(fmt.Sprintf(`{"text":%q}`, text))}
	case 6, 7:
		op := &agent.SaveMessages{ConversationRef: ref}
		for range rapid.IntRange(1, 3).Draw(t, "messages") {
			d := agent.MessageDraft{ID: chosenIDs.Draw(t, "id"), Role: agent.RoleUser, Content: agent.JSON(`{}`)}
			if rapid.IntRange(0, 2).Draw(t, "tool") == 0 {
				d = agent.MessageDraft{Role: agent.RoleAssistant, ToolCall: text}
			}
			if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
				d.Content = agent.JSON(fmt.Sprintf(`{"text":%q}`, text))
			}
			op.Messages = append(op.Messages, d)
		}
		return op
	case 8:
		op := &agent.UpdateMessage{ConversationRef: ref, Message: "call:" + text, Status: toolStatuses.Draw(t, "status")}
		if len(c.Messages) > 0 && rapid.Bool().Draw(t, "there") {
			op.Message = rapid.SampledFrom(c.Messages).Draw(t, "which").ID
			op.Content = agent.JSON(fmt.Sprintf(`{"updated":%q}`, text))
		}
		return op
	case 9:
		ttl := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "ttl")
		return &agent.SetTTL{Conversation: id, TTL: ttl, IfIncarnation: ref.IfIncarnation}
	default:
		return &agent.DeleteConversation{ConversationRef: ref, IfRevision: near(t, c.Revision), Seal: seals.Draw(t, "seal")}
	}
}

func TestConversationsDoAsTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS()})
		defer r.close()
		if rapid.Bool().Draw(rt, "found") {
			r.record()
			r.pass()
		}
		m, sealed := memstore.ConversationModel{}, map[string]int64{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			m.Expire(r.wall)
			if rapid.IntRange(0, 3).Draw(rt, "later") == 0 {
				r.after(rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Second, 2 * time.Minute}).Draw(rt, "by"))
			}
			op := drawTalk(rt, m)
			judgeTalk(rt, m, op, r.batch(agent.Commit{Ops: []agent.Op{op}})[0], r.wall, sealed)
		}
		r.pass() // sweeps what has expired
		m.Expire(r.wall)
		sameTalk(rt, r, m)
	})
}

// judgeTalk compares the machine's decision on an op with the model's.
func judgeTalk(t *rapid.T, m memstore.ConversationModel, op agent.Op, d agent.Decided, now int64, sealed map[string]int64) {
	t.Helper()
	h := talk{now: now, sealed: sealed}
	if d.Err == nil {
		h.got = d.Result.Results[0]
	}
	want, refusal, _ := m.Apply(h, op)
	if refusal != nil || d.Err != nil {
		if refusal == nil || d.Err == nil || refusal.Code != d.Err.Code {
			t.Fatalf("%T%+v was refused with %v, the model says %v", op, op, d.Err, refusal)
		}
		return
	}
	if diff := cmp.Diff(want, h.got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%T%+v (-model +machine):\n%s", op, op, diff)
	}
}

// sameTalk compares all that can be read with the model.
func sameTalk(t *rapid.T, r *subject, m memstore.ConversationModel) {
	t.Helper()
	reads := []agent.Read{&agent.ListConversations{}, &agent.ListConversations{Interrupted: true}, &agent.ListConversations{Page: agent.Page{Limit: 1}}}
	for _, id := range []string{"a", "b", "c"} {
		reads = append(reads, &agent.GetConversation{ConversationRef: conv(id)}, &agent.ListMessages{ConversationRef: conv(id)},
			&agent.ListMessages{ConversationRef: conv(id), Tail: 2}, &agent.ListMessages{ConversationRef: conv(id), From: 1, Limit: 2})
	}
	if _, _, all := found(t, r); all {
		for _, name := range []string{"x", "y"} {
			reads = append(reads, &agent.ListConversations{Agent: name}, &agent.ListConversations{Owner: name, Page: agent.Page{Limit: 2}})
		}
	}
	for _, q := range reads {
		want, code, _ := m.Read(q)
		got := r.answer(q)
		if code != nil || got.Err != nil {
			if code == nil || got.Err == nil || code.Code != got.Err.Code {
				t.Fatalf("%T%+v: %v, the model says %v", q, q, got.Err, code)
			}
			continue
		}
		if diff := cmp.Diff(want, got.Found, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%T%+v (-model +machine):\n%s", q, q, diff)
		}
	}
	scope := r.answer(&agent.GetScope{})
	if got, ok := scope.Found.(*agent.Scope); ok && (got.Keys != uint64(len(m)) || got.Bytes != m.Bytes()) {
		t.Fatalf("the scope counts %d keys and %d bytes, the model %d and %d", got.Keys, got.Bytes, len(m), m.Bytes())
	}
}
