package agenttest

import (
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
)

// keeper returns a manager with all fields set.
func keeper() agent.Manager {
	return agent.Manager{
		Name: "m", Handler: agent.Handler{Kind: agent.HandlerHTTP, URL: "https://agents.example:8443/hook?a=1", Key: "k1"},
		IdleTimeout: 90 * time.Second, Durability: agent.DurabilityIdle, Storage: agent.KeepCluster, Version: 7, MailboxMax: 5, AwakeMax: 9,
		SignalTTL: 1500 * time.Millisecond, AttachTTL: 2 * time.Second, Track: true, SkipsPersist: []string{"cache", "socket"},
		Metadata: agent.JSON(`{"team":"blue"}`),
	}
}

// documents returns a minimal manager.
func documents(name string) *agent.PutManager {
	return &agent.PutManager{Manager: agent.Manager{Name: name, Handler: agent.Handler{Kind: agent.HandlerDocument}}}
}

var managerClaims = []claim{
	{"a_manager_is_read_as_it_was_written", func(k *kit) {
		want := keeper()
		result := k.commit(&agent.PutManager{Manager: want})
		got := resultOf[*agent.ManagerResult](k, result, 0).Manager
		if got.Incarnation == 0 {
			k.Fatal("a manager without an incarnation")
		}
		want.Incarnation, want.Revision, want.CreatedAt, want.UpdatedAt = got.Incarnation, 1, result.Time, result.Time
		k.equal("result", got, want)
		k.equal("read", *find[*agent.Manager](k, &agent.GetManager{Name: "m"}), want)
		k.equal("listed", find[*agent.ManagerList](k, &agent.ListManagers{}).Items, []agent.Manager{want})
	}},

	{"a_manager_takes_its_defaults", func(k *kit) {
		got := apply[*agent.ManagerResult](k, documents("m")).Manager
		k.equal("durability, storage, version", []any{got.Durability, got.Storage, got.Version}, []any{agent.DurabilityTurn, agent.KeepCluster, uint64(1)})
		k.equal("mailbox, signal, attachment", []any{got.Mailbox(), got.SignalTimeout(), got.AttachmentTTL()},
			[]any{agent.MailboxDefault, agent.SignalTimeoutDefault, agent.AttachmentTTLDefault})
	}},

	{"a_manager_counts_its_revisions", func(k *kit) {
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.PutManager{Manager: keeper(), IfRevision: ptr(uint64(1))})
		first := documents("m")
		first.IfRevision = ptr(uint64(0))
		one := apply[*agent.ManagerResult](k, first).Manager
		two := apply[*agent.ManagerResult](k, &agent.PutManager{Manager: keeper(), IfRevision: ptr(uint64(1))}).Manager
		k.equal("incarnation, revision, created", []any{two.Incarnation, two.Revision, two.CreatedAt}, []any{one.Incarnation, uint64(2), one.CreatedAt})
		refused := k.refuse(agent.CodeRevisionMismatch, 0, first)
		k.equal("stored revision", refused.Revision, uint64(2))
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteManager{Name: "m", IfRevision: ptr(uint64(1))})
		deleted := apply[*agent.DeleteResult](k, &agent.DeleteManager{Name: "m", IfRevision: ptr(uint64(2))})
		k.equal("deleted", *deleted, agent.DeleteResult{Existed: true, Incarnation: one.Incarnation})
		k.lacks(agent.CodeNotFound, &agent.GetManager{Name: "m"})
		k.equal("once more", *apply[*agent.DeleteResult](k, &agent.DeleteManager{Name: "m"}), agent.DeleteResult{})
		if again := apply[*agent.ManagerResult](k, documents("m")).Manager; again.Incarnation <= one.Incarnation || again.Revision != 1 {
			k.Fatalf("created again at incarnation %d after %d, revision %d", again.Incarnation, one.Incarnation, again.Revision)
		}
	}},

	{"managers_belong_to_their_scope", func(k *kit) {
		k.commit(documents("b"), documents("a"), documents("ab"))
		other := k.in(newName("scope"))
		other.lacks(agent.CodeNotFound, &agent.GetManager{Name: "a"})
		names := func(p agent.Page) string {
			var all []string
			for _, m := range find[*agent.ManagerList](k, &agent.ListManagers{Page: p}).Items {
				all = append(all, m.Name)
			}
			return strings.Join(all, " ")
		}
		k.equal("all", names(agent.Page{}), "a ab b")
		k.equal("a page", names(agent.Page{After: "a", Limit: 1}), "ab")
		k.equal("with a prefix", names(agent.Page{Prefix: "b"}), "b")
		k.equal("keys", k.counters().Keys, uint64(3))
		k.commit(&agent.DeleteScope{})
		k.lacks(agent.CodeNotFound, &agent.GetManager{Name: "a"})
	}},

	{"a_wrong_manager_is_refused_with_its_field", func(k *kit) {
		for _, wrong := range []struct {
			field  string
			code   agent.Code
			change func(*agent.Manager)
		}{
			{"name", agent.CodeInvalid, func(m *agent.Manager) { m.Name = "" }},
			{"name", agent.CodeTooLarge, func(m *agent.Manager) { m.Name = strings.Repeat("x", agent.ManagerNameBytesMax+1) }},
			{"handler.kind", agent.CodeInvalid, func(m *agent.Manager) { m.Handler.Kind = "wasm" }},
			{"handler.name", agent.CodeInvalid, func(m *agent.Manager) { m.Handler = agent.Handler{Kind: agent.HandlerGo} }},
			{"handler.url", agent.CodeInvalid, func(m *agent.Manager) { m.Handler.URL = "ftp://x/" }},
			{"handler.url", agent.CodeInvalid, func(m *agent.Manager) { m.Handler.URL = "http://u:p@x/" }},
			{"handler", agent.CodeInvalid, func(m *agent.Manager) { m.Handler.Kind = agent.HandlerDocument }},
			{"durability", agent.CodeInvalid, func(m *agent.Manager) { m.Durability = "later" }},
			{"storage", agent.CodeInvalid, func(m *agent.Manager) { m.Storage = "disk" }},
			{"mailbox_max", agent.CodeInvalid, func(m *agent.Manager) { m.MailboxMax = agent.MailboxMost + 1 }},
			{"mailbox_max", agent.CodeInvalid, func(m *agent.Manager) { m.MailboxMax = -1 }},
			{"awake_max", agent.CodeInvalid, func(m *agent.Manager) { m.AwakeMax = agent.AwakeMost + 1 }},
			{"idle_timeout", agent.CodeInvalid, func(m *agent.Manager) { m.IdleTimeout = agent.TTLMax + time.Second }},
			{"signal_ttl", agent.CodeInvalid, func(m *agent.Manager) { m.SignalTTL = agent.SignalTimeoutMax + time.Second }},
			{"attach_ttl", agent.CodeInvalid, func(m *agent.Manager) { m.AttachTTL = agent.AttachmentTTLMin - time.Millisecond }},
			{"skips_persist", agent.CodeTooLarge, func(m *agent.Manager) { m.SkipsPersist = make([]string, agent.ManagerSkipsMax+1) }},
			{"skips_persist[0]", agent.CodeInvalid, func(m *agent.Manager) { m.SkipsPersist = []string{""} }},
			{"metadata", agent.CodeTooLarge, func(m *agent.Manager) {
				m.Metadata = agent.JSON(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", agent.MetadataBytesMax)))
			}},
		} {
			m := keeper()
			wrong.change(&m)
			k.refuseInvalid(wrong.code, 0, "manager."+wrong.field, &agent.PutManager{Manager: m})
		}
	}},

	{"an_answered_signal_is_found_by_its_request", func(k *kit) {
		client := newName("client")
		turn := func(seq uint64, reply string) (agent.Result, error) {
			return k.request(agent.Request{Client: client, Seq: seq, Low: 1},
				&agent.AppendThread{Thread: "t", Entries: []agent.Draft{message(fmt.Sprint("m", seq), "x")}},
				&agent.AnswerSignal{Hash: 18446744073709551615, Reply: agent.JSON(reply)})
		}
		ask := &agent.GetAnswer{Client: client, Seq: 1}
		k.lacks(agent.CodeNotFound, ask)
		first := k.applied(turn(1, `{ "n": 1 }`))
		k.equal("answer", *resultOf[*agent.SignalResult](k, first, 1), agent.SignalResult{Hash: 18446744073709551615, Reply: agent.JSON(`{"n":1}`)})
		k.equal("kept", *find[*agent.Decided](k, ask), agent.Decided{Result: first})
		k.equal("retried", k.applied(turn(1, `{"n":1}`)), first)
		k.lacks(agent.CodeNotFound, &agent.GetAnswer{Client: client, Seq: 2})
		k.in(newName("scope")).lacks(agent.CodeNotFound, ask)
	}},

	{"a_refused_turn_is_an_answer_too", func(k *kit) {
		client := newName("client")
		_, err := k.request(agent.Request{Client: client, Seq: 1},
			&agent.AppendThread{Thread: "t", ExpectedRev: ptr(uint64(3)), Entries: messages("m", 0, 1)}, &agent.AnswerSignal{Hash: 1})
		refusal := k.refused(agent.CodeConflict, 0, err)
		k.equal("kept", *find[*agent.Decided](k, &agent.GetAnswer{Client: client, Seq: 1}), agent.Decided{Err: &refusal})
	}},

	{"an_answer_that_was_let_go_is_no_not_found", func(k *kit) {
		client := newName("client")
		for seq := uint64(1); seq <= 2; seq++ {
			k.applied(k.request(agent.Request{Client: client, Seq: seq, Low: seq}, &agent.AppendThread{Thread: "t"}))
		}
		k.lacks(agent.CodeRequestExpired, &agent.GetAnswer{Client: client, Seq: 1})
	}},

	{"an_answer_to_a_signal_ends_its_commit", func(k *kit) {
		k.refuseInvalid(agent.CodeInvalid, 0, "op", &agent.AnswerSignal{}, &agent.PutValue{Key: "v"})
		k.refuseInvalid(agent.CodeTooLarge, 0, "reply",
			&agent.AnswerSignal{Reply: agent.JSON(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", agent.SignalReplyBytesMax)))})
		k.commit(&agent.AnswerSignal{Reply: agent.JSON(fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", agent.SignalReplyBytesMax-len(`{"a":""}`))))})
	}},
}
