// Package conversations drives conversations with their messages, pending messages and files. It
// checks that one order explains all calls, and that a pending message stays until exactly the save
// that consumes it.
package conversations

import (
	"context"
	"fmt"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// conversations saves the states of conversations, each under the revision that was loaded, adds
// messages, sometimes with a file in the same commit, and keeps pending messages until a save consumes
// them. A key is a conversation and a file of that name.
type conversations struct {
	keys  *workload.Keys
	names atomic.Int64 // number of writes so far; numbers them
}

const (
	keysAtOnce  = 2
	callsMax    = 300
	messagesMax = 3 // of one call
	tail        = 6 // messages that a read returns
)

// New returns workload conversations.
func New() workload.Workload {
	return &conversations{keys: workload.NewSharedKeys("c", keysAtOnce, callsMax)}
}

func (*conversations) Name() string { return "conversations" }

func (*conversations) About() string {
	return "conversations saved under revisions, with messages, files and pending messages: one order explains all, no stale save, and a pending message stays until the save that consumes it"
}

// The calls besides workload.CallRead.
const (
	callSay  = "say"
	callSave = "save"
	callPend = "pend"
)

// call is the input of a call.
type call struct {
	Name      string `json:"name,omitempty"`      // of the written content
	Messages  int    `json:"messages,omitempty"`  // of a say
	File      bool   `json:"file,omitempty"`      // of a say: it also writes the file
	Revision  uint64 `json:"revision,omitempty"`  // of a save: the loaded one
	Consumed  uint64 `json:"consumed,omitempty"`  // of a save
	Interrupt bool   `json:"interrupt,omitempty"` // of a save: the conversation then waits for a person
}

// names returns the names of a say's messages.
func (c call) names() (names []string) {
	for i := range c.Messages {
		names = append(names, fmt.Sprintf("%s.%d", c.Name, i))
	}
	return names
}

// seen is what a call left or found. A say has Count, the number of messages after it, and File; a save
// has Revision; a pend has Number; a read has all but Number.
type seen struct {
	Index       uint64    `json:"index"`
	Revision    uint64    `json:"revision,omitempty"`
	State       string    `json:"state,omitempty"` // the name of its save
	Interrupted bool      `json:"interrupted,omitempty"`
	Count       uint64    `json:"count,omitempty"`
	Messages    []string  `json:"messages,omitempty"` // the last ones, up to Count
	File        uint64    `json:"file,omitempty"`     // the file's revision
	Content     string    `json:"content,omitempty"`  // the name of the say that wrote the file
	Number      uint64    `json:"number,omitempty"`
	Consumed    uint64    `json:"consumed,omitempty"`
	Pending     []pending `json:"pending,omitempty"`
}

// pending is a pending message.
type pending struct {
	Number uint64 `json:"n"`
	Name   string `json:"name"`
}

func (w *conversations) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key, name := w.keys.Pick(p), workload.WriteName(p, w.names.Add(1))
		switch draw := p.Rand.IntN(10); {
		case draw < 3:
			say(ctx, p, key, call{Name: name, Messages: 1 + p.Rand.IntN(messagesMax), File: p.Rand.IntN(3) == 0})
		case draw < 5:
			pend(ctx, p, key, call{Name: name})
		case draw < 8:
			found, err := read(ctx, p, key)
			if err != nil {
				continue
			}
			in := call{Name: name, Revision: found.Revision, Interrupt: p.Rand.IntN(3) == 0}
			if n := len(found.Pending); n > 0 {
				in.Consumed = found.Pending[p.Rand.IntN(n)].Number
			}
			save(ctx, p, key, in)
		default:
			_, _ = read(ctx, p, key)
		}
	}
}

// commit makes a call of some ops on the conversation, and a write of its file.
func commit(ctx context.Context, p *workload.Process, name, key string, in call, ops ...agent.Op) {
	_, _ = workload.Call(ctx, p, name, key, true, in, func(ctx context.Context) (seen, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: ops})
		if err != nil {
			return seen{}, err
		}
		out := seen{Index: result.Index}
		for _, r := range result.Results {
			switch r := r.(type) {
			case *agent.ConversationResult:
				out.Revision, out.Interrupted, out.Count, out.Number, out.Consumed = r.Conversation.Revision, r.Conversation.Interrupted, r.Conversation.MessageCount, r.Pending, r.Conversation.Consumed
			case *agent.ValueResult:
				out.File = r.Revision
			default:
				return seen{}, agent.Errorf(agent.CodeInternal, "the result is a %T", r)
			}
		}
		return out, nil
	})
}

func say(ctx context.Context, p *workload.Process, key string, in call) {
	op := &agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: key}}
	for _, name := range in.names() {
		op.Messages = append(op.Messages, agent.MessageDraft{ID: name, Role: agent.RoleUser, Content: workload.MarkOf(name)})
	}
	ops := []agent.Op{op}
	if in.File {
		ops = append(ops, &agent.PutValue{Key: fileOf(key), Bytes: workload.MarkOf(in.Name)})
	}
	commit(ctx, p, callSay, key, in, ops...)
}

func pend(ctx context.Context, p *workload.Process, key string, in call) {
	commit(ctx, p, callPend, key, in, &agent.PendMessage{ConversationRef: agent.ConversationRef{ID: key}, Message: workload.MarkOf(in.Name)})
}

func save(ctx context.Context, p *workload.Process, key string, in call) {
	lifecycle := agent.LifecycleCompletion
	if in.Interrupt {
		lifecycle = agent.LifecycleInterrupt
	}
	commit(ctx, p, callSave, key, in, &agent.SaveConversation{
		ConversationRef: agent.ConversationRef{ID: key}, Revision: in.Revision, Lifecycle: lifecycle, Consumed: in.Consumed, State: stateOf(in.Name),
	})
}

// stateOf returns the state of a save.
func stateOf(name string) agent.JSON {
	return agent.JSON(fmt.Sprintf(`{"version":1,"state":{},"by":%q}`, name))
}

// fileOf returns the key of the conversation's file.
func fileOf(key string) string {
	file, err := agent.FileKey("/" + key + "/notes.json")
	if err != nil {
		panic(err) // a workload's key is a valid name of a file
	}
	return file
}

// read reads the conversation, its last messages and its file at one index.
func read(ctx context.Context, p *workload.Process, key string) (seen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (seen, error) {
		index, found, err := workload.FindAll(ctx, p, &agent.GetConversation{ConversationRef: agent.ConversationRef{ID: key}},
			&agent.ListMessages{ConversationRef: agent.ConversationRef{ID: key}, Tail: tail}, &agent.GetValue{Key: fileOf(key)})
		if err != nil {
			return seen{}, err
		}
		out := seen{Index: index}
		for _, f := range found {
			switch f := f.(type) {
			case *agent.SavedConversation:
				out.Revision, out.Interrupted, out.Count, out.Consumed = f.Revision, f.Interrupted, f.MessageCount, f.Consumed
				if f.Revision > 0 {
					out.State = workload.NameIn(f.State)
				}
				for _, m := range f.Pending {
					out.Pending = append(out.Pending, pending{m.Number, workload.NameIn(m.Message)})
				}
			case *agent.MessageList:
				for _, m := range f.Items {
					out.Messages = append(out.Messages, workload.NameIn(m.Content))
				}
			case *agent.Value:
				out.File, out.Content = f.Revision, workload.NameIn(f.Bytes)
			}
		}
		return out, nil
	})
}

// Final reads every conversation.
func (w *conversations) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := read(ctx, p, key)
		return err
	})
}
