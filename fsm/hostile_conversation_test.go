package fsm_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/fsm"
	logpb "dormouse/proto/log"
)

func (h hostile) ref() *logpb.ConversationRef {
	if rapid.IntRange(0, 9).Draw(h.T, "no ref") == 0 {
		return nil
	}
	return &logpb.ConversationRef{Id: h.id(), Agent: h.id(), Owner: h.id(), IfIncarnation: rapid.SampledFrom([]uint64{0, 0, 0, 1<<16 + 1}).Draw(h.T, "incarnation")}
}

// level is a command that raises the feature level.
func (h hostile) level() []byte {
	level := rapid.Uint32Range(1, fsm.FeatureLevelMax).Draw(h.T, "level")
	raw, err := proto.Marshal(&logpb.Commit{Scope: "s", Ops: []*logpb.Op{{Op: &logpb.Op_SetFeatureLevel{SetFeatureLevel: &logpb.SetFeatureLevel{Level: level}}}}})
	if err != nil {
		h.Fatal(err)
	}
	return raw
}

// states are such that some are fine.
func (h hostile) state() []byte {
	return []byte(rapid.SampledFrom([]string{
		"", "{", "[]", `{"version":1}`, `{"version":1,"state":{}}`, `{"version":2,"state":{"a":1}}`, `{"version":1,"state":{}`, `{"version":-1,"state":{}}`,
		`{"ver\u0073ion":3,"state":{}}`,
	}).Draw(h.T, "state"))
}

func (h hostile) messageID() string {
	return rapid.SampledFrom([]string{"", "x", "call:x", "message_1ekh_0", "message_1ekh_1", "message_1ekh_9", "message_0_0", "a\x00b"}).Draw(h.T, "message")
}

func (h hostile) conversationOp() *logpb.Op {
	switch rapid.IntRange(0, 8).Draw(h.T, "op") {
	case 8:
		return &logpb.Op{Op: &logpb.Op_EraseAgent{EraseAgent: &logpb.EraseAgent{Agent: h.id(), SealMs: h.ttl()}}}
	case 0:
		return &logpb.Op{Op: &logpb.Op_SaveConversation{SaveConversation: &logpb.SaveConversation{
			Ref: h.ref(), Revision: rapid.SampledFrom([]uint64{0, 0, 1, 2, 1<<64 - 1}).Draw(h.T, "revision"), Lifecycle: h.id(), State: h.state(),
			Title: h.id(), Consumed: h.number(),
		}}}
	case 1:
		return &logpb.Op{Op: &logpb.Op_SetInterrupted{SetInterrupted: &logpb.SetInterrupted{Ref: h.ref(), Interrupted: rapid.Bool().Draw(h.T, "is")}}}
	case 2:
		return &logpb.Op{Op: &logpb.Op_PendMessage{PendMessage: &logpb.PendMessage{Ref: h.ref(), Message: h.bytes()}}}
	case 3:
		op := &logpb.SaveMessages{Ref: h.ref()}
		for range rapid.IntRange(0, 3).Draw(h.T, "messages") {
			op.Messages = append(op.Messages, &logpb.MessageDraft{
				Id: h.messageID(), Role: h.id(), Type: h.id(), Content: h.bytes(), ToolCall: h.id(), Status: h.id(),
			})
		}
		return &logpb.Op{Op: &logpb.Op_SaveMessages{SaveMessages: op}}
	case 4:
		return &logpb.Op{Op: &logpb.Op_UpdateMessage{UpdateMessage: &logpb.UpdateMessage{
			Ref: h.ref(), Message: h.messageID(), Status: h.id(), Content: h.bytes(),
		}}}
	case 5:
		return &logpb.Op{Op: &logpb.Op_DeleteConversation{DeleteConversation: &logpb.DeleteConversation{Ref: h.ref(), IfRevision: h.maybe(), SealMs: h.number()}}}
	case 6:
		return &logpb.Op{Op: &logpb.Op_PutValue{PutValue: &logpb.PutValue{Key: h.id(), Bytes: h.bytes(), Metadata: h.bytes()}}}
	default:
		return &logpb.Op{Op: &logpb.Op_ReviseValue{ReviseValue: &logpb.ReviseValue{
			Key: h.id(), To: h.id(), ContentType: h.id(), Metadata: h.bytes(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	}
}

func TestWhateverIsSaidOfConversationsIsDecidedAlikeByAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := hostile{rt}
		entries := make([][][]byte, rapid.IntRange(1, 6).Draw(rt, "entries"))
		for i := range entries {
			for range rapid.IntRange(0, 4).Draw(rt, "commits") {
				c := &logpb.Commit{Scope: "s"}
				for range rapid.IntRange(1, 3).Draw(rt, "ops") {
					c.Ops = append(c.Ops, h.conversationOp())
				}
				raw, err := proto.Marshal(c)
				if err != nil {
					rt.Fatal(err)
				}
				entries[i] = append(entries[i], raw)
			}
		}
		if rapid.Bool().Draw(rt, "raised") { // what is told, and found
			entries = slices.Insert(entries, rapid.IntRange(0, len(entries)).Draw(rt, "when"), [][]byte{h.level()})
		}
		hash, stopped := applyAnything(t, entries)
		if again, stoppedAgain := applyAnything(t, entries); again != hash || stopped != stoppedAgain {
			rt.Fatal("two machines that were fed the same log differ")
		}
		if stopped {
			rt.Fatal("the replica stopped at ops that it knows")
		}
	})
}
