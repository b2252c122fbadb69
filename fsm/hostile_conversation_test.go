package fsm_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/fsm"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

func (h hostile) ref() *oppb.ConversationRef {
	if rapid.IntRange(0, 9).Draw(h.T, "no ref") == 0 {
		return nil
	}
	return &oppb.ConversationRef{Id: h.id(), Agent: h.id(), Owner: h.id(), IfIncarnation: rapid.SampledFrom([]uint64{0, 0, 0, 1<<16 + 1}).Draw(h.T, "incarnation")}
}

// level returns a command that raises the feature level.
func (h hostile) level() []byte {
	level := rapid.Uint32Range(1, fsm.FeatureLevelMax).Draw(h.T, "level")
	raw, err := proto.Marshal(&logpb.Commit{Scope: "s", ClusterOps: []*logpb.ClusterOp{{Op: &logpb.ClusterOp_SetFeatureLevel{SetFeatureLevel: &logpb.SetFeatureLevel{Level: level}}}}})
	if err != nil {
		h.Fatal(err)
	}
	return raw
}

// state draws a state, some of them valid.
func (h hostile) state() []byte {
	return []byte(rapid.SampledFrom([]string{
		"", "{", "[]", `{"version":1}`, `{"version":1,"state":{}}`, `{"version":2,"state":{"a":1}}`, `{"version":1,"state":{}`, `{"version":-1,"state":{}}`,
		`{"ver\u0073ion":3,"state":{}}`,
	}).Draw(h.T, "state"))
}

func (h hostile) messageID() string {
	return rapid.SampledFrom([]string{"", "x", "call:x", "message_1ekh_0", "message_1ekh_1", "message_1ekh_9", "message_0_0", "a\x00b"}).Draw(h.T, "message")
}

func (h hostile) conversationOp() *oppb.Op {
	switch rapid.IntRange(0, 8).Draw(h.T, "op") {
	case 8:
		return &oppb.Op{Op: &oppb.Op_EraseAgent{EraseAgent: &oppb.EraseAgent{Agent: h.id(), SealMs: h.ttl()}}}
	case 0:
		return &oppb.Op{Op: &oppb.Op_SaveConversation{SaveConversation: &oppb.SaveConversation{
			Ref: h.ref(), Revision: rapid.SampledFrom([]uint64{0, 0, 1, 2, 1<<64 - 1}).Draw(h.T, "revision"), Lifecycle: h.id(), State: h.state(),
			Title: h.id(), Consumed: h.number(),
		}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_SetInterrupted{SetInterrupted: &oppb.SetInterrupted{Ref: h.ref(), Interrupted: rapid.Bool().Draw(h.T, "is")}}}
	case 2:
		return &oppb.Op{Op: &oppb.Op_PendMessage{PendMessage: &oppb.PendMessage{Ref: h.ref(), Message: h.bytes()}}}
	case 3:
		op := &oppb.SaveMessages{Ref: h.ref()}
		for range rapid.IntRange(0, 3).Draw(h.T, "messages") {
			op.Messages = append(op.Messages, &oppb.MessageDraft{
				Id: h.messageID(), Role: h.id(), Type: h.id(), Content: h.bytes(), ToolCall: h.id(), Status: h.id(),
			})
		}
		return &oppb.Op{Op: &oppb.Op_SaveMessages{SaveMessages: op}}
	case 4:
		return &oppb.Op{Op: &oppb.Op_UpdateMessage{UpdateMessage: &oppb.UpdateMessage{
			Ref: h.ref(), Message: h.messageID(), Status: h.id(), Content: h.bytes(),
		}}}
	case 5:
		return &oppb.Op{Op: &oppb.Op_DeleteConversation{DeleteConversation: &oppb.DeleteConversation{Ref: h.ref(), IfRevision: h.maybe(), SealMs: h.number()}}}
	case 6:
		return &oppb.Op{Op: &oppb.Op_PutValue{PutValue: &oppb.PutValue{Key: h.id(), Bytes: h.bytes(), Metadata: h.bytes()}}}
	default:
		return &oppb.Op{Op: &oppb.Op_ReviseValue{ReviseValue: &oppb.ReviseValue{
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
		if rapid.Bool().Draw(rt, "raised") { // changes are recorded, and conversations found
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
