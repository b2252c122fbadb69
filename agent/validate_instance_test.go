package agent_test

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
)

func TestInstancesAreNamedWithinTheirCheckpointsKeys(t *testing.T) {
	prefix := len("instances/m/")
	for _, c := range []struct {
		name string
		ref  agent.InstanceRef
		want refusal
	}{
		{"the longest key", agent.InstanceRef{Manager: "m", Key: text(agent.IDBytesMax - prefix)}, refusal{}},
		{"one byte more", agent.InstanceRef{Manager: "m", Key: text(agent.IDBytesMax - prefix + 1)}, refusal{agent.CodeTooLarge, -1, "key"}},
		{"a manager that is escaped", agent.InstanceRef{Manager: "a/b", Key: text(agent.IDBytesMax - prefix - 4)}, refusal{}},
		{"…and one byte more", agent.InstanceRef{Manager: "a/b", Key: text(agent.IDBytesMax - prefix - 3)}, refusal{agent.CodeTooLarge, -1, "key"}},
		{"no manager", agent.InstanceRef{Key: "k"}, refusal{agent.CodeInvalid, -1, "manager"}},
		{"a long manager", agent.InstanceRef{Manager: text(agent.ManagerNameBytesMax + 1), Key: "k"}, refusal{agent.CodeTooLarge, -1, "manager"}},
		{"no key", agent.InstanceRef{Manager: "m"}, refusal{agent.CodeInvalid, -1, "key"}},
		{"a NUL", agent.InstanceRef{Manager: "m", Key: "a\x00"}, refusal{agent.CodeInvalid, -1, "key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.ref.Validate(), c.want)
			if c.want.code == "" && c.ref.Scope != agent.DefaultScope {
				t.Errorf("scope %q", c.ref.Scope)
			}
		})
	}
	one, other := agent.InstanceRef{Manager: "a", Key: "b/c"}, agent.InstanceRef{Manager: "a/b", Key: "c"}
	if one.Checkpoint() == other.Checkpoint() {
		t.Errorf("two instances are both stored as %q", one.Checkpoint())
	}
}

func TestSignalsAreValidated(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal agent.Signal
		want   refusal
	}{
		{"the largest", agent.Signal{Type: text(agent.KindBytesMax), Data: object(agent.SignalBytesMax)}, refusal{}},
		{"too much data", agent.Signal{Type: "t", Data: object(agent.SignalBytesMax + 1)}, refusal{agent.CodeTooLarge, -1, "data"}},
		{"no type", agent.Signal{}, refusal{agent.CodeInvalid, -1, "type"}},
		{"a long type", agent.Signal{Type: text(agent.KindBytesMax + 1)}, refusal{agent.CodeTooLarge, -1, "type"}},
		{"data that is no object", agent.Signal{Type: "t", Data: agent.JSON(`[1]`)}, refusal{agent.CodeInvalid, -1, "data"}},
		{"a request without a number", agent.Signal{Type: "t", Request: agent.Request{Client: "c"}}, refusal{agent.CodeInvalid, -1, "request.seq"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.signal.Validate(), c.want) })
	}
}

func TestASignalsHashTellsItFromOthers(t *testing.T) {
	to := agent.InstanceRef{Manager: "m", Key: "k"}
	hash := func(kind, data string) uint64 {
		s := agent.Signal{Type: kind, Data: agent.JSON(data)}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		return s.Hash(to)
	}
	if hash("a", `{ "n": 1 }`) != hash("a", `{"n":1}`) || hash("a", "") != hash("a", "{}") {
		t.Error("equal signals have other hashes")
	}
	if hash("a", `{"n":1}`) == hash("a", `{"n":2}`) || hash("a", `{}`) == hash("b", `{}`) {
		t.Error("other signals have equal hashes")
	}
	same := hash("a", `{}`)
	for _, to = range []agent.InstanceRef{{Manager: "m", Key: "k2"}, {Manager: "m2", Key: "k"}} {
		if hash("a", `{}`) == same {
			t.Errorf("to %v it has the hash of another instance's", to)
		}
	}
}

func TestAttachmentsAreValidated(t *testing.T) {
	for _, c := range []struct {
		attach agent.Attach
		want   refusal
	}{
		{agent.Attach{}, refusal{}},
		{agent.Attach{Attachment: "u", TTL: agent.AttachmentTTLMax}, refusal{}},
		{agent.Attach{TTL: agent.AttachmentTTLMax + time.Millisecond}, refusal{agent.CodeInvalid, -1, "ttl"}},
		{agent.Attach{TTL: agent.AttachmentTTLMin - time.Millisecond}, refusal{agent.CodeInvalid, -1, "ttl"}},
		{agent.Attach{Attachment: ".."}, refusal{agent.CodeInvalid, -1, "attachment"}},
	} {
		check(t, c.attach.Validate(), c.want)
	}
	start := agent.StartInstance{InitialState: agent.JSON(strings.Repeat("[", 3))}
	check(t, start.Validate(), refusal{agent.CodeInvalid, -1, "initial_state"})
}
