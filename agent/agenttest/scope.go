package agenttest

import (
	"strings"

	"dormouse/agent"
)

func (k *kit) counters() agent.Scope {
	k.Helper()
	return *find[*agent.Scope](k, &agent.GetScope{})
}

var scopeClaims = []claim{
	{"a_scope_comes_with_its_first_write", func(k *kit) {
		k.lacks(agent.CodeNotFound, &agent.GetScope{})
		result := k.commit(&agent.PutValue{Key: "v"})
		got := k.counters()
		k.equal("name, keys, created", []any{got.Name, got.Keys, got.CreatedAt}, []any{k.scope, uint64(1), result.Time})
	}},

	{"a_refused_commit_makes_no_scope", func(k *kit) {
		k.refuse(agent.CodeNotFound, 0, &agent.PatchCheckpoint{Key: "a", Patch: agent.JSON("{}")})
		k.lacks(agent.CodeNotFound, &agent.GetScope{})
	}},

	{"scopes_count_keys", func(k *kit) {
		for _, step := range []struct {
			op   agent.Op
			want uint64
		}{
			{&agent.PutValue{Key: "x"}, 1},
			{&agent.PutValue{Key: "x", Bytes: []byte("more")}, 1},
			{&agent.PutCheckpoint{Key: "x"}, 2},
			{&agent.PutCheckpoint{Key: "x"}, 2},
			{&agent.AppendThread{Thread: "x", Entries: messages("m", 0, 3)}, 3},
			{&agent.AppendThread{Thread: "x", Entries: messages("m", 3, 3)}, 3},
			{&agent.ForkThread{Thread: "x", NewThread: "y"}, 4},
			{&agent.DeleteValue{Key: "x"}, 3},
			{&agent.DeleteValue{Key: "x"}, 3},
			{&agent.DeleteCheckpoint{Key: "x"}, 2},
			{&agent.CompactThread{Thread: "y", BeforeSeq: 6}, 2},
			{&agent.DeleteThread{Thread: "x"}, 1},
			{&agent.DeleteThread{Thread: "y"}, 0},
		} {
			k.commit(step.op)
			if got := k.counters().Keys; got != step.want {
				k.Fatalf("%d keys after %T, want %d", got, step.op, step.want)
			}
		}
	}},

	{"scopes_count_bytes", func(k *kit) {
		k.commit(&agent.PutValue{Key: "small"})
		small := k.counters().Bytes
		k.commit(&agent.PutValue{Key: "v", Bytes: make([]byte, 10_000)})
		if got := k.counters().Bytes; got < small+10_000 {
			k.Fatalf("%d bytes, 10,000 more than %d were written", got, small)
		}
		k.commit(&agent.PutValue{Key: "v", Bytes: make([]byte, 100)})
		if got := k.counters().Bytes; got >= small+10_000 {
			k.Fatalf("%d bytes after a large value became a small one", got)
		}
		k.commit(&agent.DeleteValue{Key: "v"})
		k.equal("bytes once it is gone", k.counters().Bytes, small)
		k.appendTo("t", message("m", "hello"))
		k.commit(&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"a":"hello"}`)})
		if got := k.counters().Bytes; got < small+26 {
			k.Fatalf("%d bytes with a thread and a checkpoint, %d without", got, small)
		}
	}},

	{"a_policy_is_kept", func(k *kit) {
		policy := agent.Policy{History: 7, KeysMax: 1000, BytesMax: 1 << 30}
		result := apply[*agent.ScopeResult](k, &agent.PutScope{Policy: policy})
		k.equal("returned", []any{result.Scope.Name, result.Scope.Policy}, []any{k.scope, policy})
		k.equal("stored", k.counters().Policy, policy)
		k.commit(&agent.PutValue{Key: "v"})
		k.equal("stored after a write", k.counters().Policy, policy)
		k.refuseInvalid(agent.CodeInvalid, 0, "history", &agent.PutScope{Policy: agent.Policy{History: agent.HistoryMax + 1}})
	}},

	{"a_policy_changes_only_from_the_one_that_is_named", func(k *kit) {
		// the default policy of the cluster is not of the scope of this claim: it is read and not changed
		defaults := find[*agent.Scope](k, &agent.GetScope{Default: true}).Policy
		first, second := agent.Policy{KeysMax: 1000}, agent.Policy{KeysMax: 2000}
		k.refuse(agent.CodeConflict, 0, &agent.PutScope{Policy: second, IfPolicy: &first})
		k.commit(&agent.PutScope{Policy: first, IfPolicy: &defaults})
		k.refuse(agent.CodeConflict, 0, &agent.PutScope{Policy: second, IfPolicy: &defaults})
		k.equal("after a refusal", k.counters().Policy, first)
		k.commit(&agent.PutScope{Policy: second, IfPolicy: &first})
		k.refuse(agent.CodeConflict, 0, &agent.PutScope{UseDefault: true, IfPolicy: &first})
		k.commit(&agent.PutScope{UseDefault: true, IfPolicy: &second})
		k.equal("own", k.counters().OwnPolicy, false)
		other := defaults
		other.KeysMax++
		k.refuse(agent.CodeConflict, 0, &agent.PutScope{Default: true, Policy: defaults, IfPolicy: &other})
		k.commit(&agent.PutScope{Default: true, Policy: defaults, IfPolicy: &defaults})
		k.refuseInvalid(agent.CodeInvalid, 0, "if_policy", &agent.PutScope{IfPolicy: &agent.Policy{History: agent.HistoryMax + 1}})
	}},

	{"a_policy_limits_keys", func(k *kit) {
		k.commit(&agent.PutScope{Policy: agent.Policy{KeysMax: 2}})
		k.commit(&agent.PutValue{Key: "a"}, &agent.PutCheckpoint{Key: "a"})
		for _, op := range []agent.Op{&agent.PutValue{Key: "b"}, &agent.PutCheckpoint{Key: "b"}, &agent.AppendThread{Thread: "b"}} {
			_, err := k.send(agent.Commit{Ops: []agent.Op{op}})
			if e := k.failure(agent.CodeQuotaExceeded, err); e.Limit == "" {
				k.Fatalf("the refusal names no limit: %+v", e)
			}
		}
		k.commit(&agent.PutValue{Key: "a", Bytes: []byte("again")})
		k.commit(&agent.DeleteCheckpoint{Key: "a"}, &agent.AppendThread{Thread: "b"})
		k.equal("keys", k.counters().Keys, uint64(2))
		// A write that adds nothing passes, however far the scope is over its limit.
		k.commit(&agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
		k.commit(&agent.PutValue{Key: "a", Bytes: []byte("once more")})
		k.commit(&agent.DeleteThread{Thread: "b"}, &agent.PutCheckpoint{Key: "b"})
		k.commit(&agent.PutScope{})
		k.commit(&agent.PutValue{Key: "c"})
	}},

	{"a_policy_limits_each_noun", func(k *kit) {
		for _, one := range []struct {
			policy agent.Policy
			limit  string
			op     func(id string) agent.Op
		}{
			{agent.Policy{AgentsMax: 2}, "agents_max=2", func(id string) agent.Op { return &agent.WriteMemory{Agent: id, ID: "m", Content: "c"} }},
			{agent.Policy{ThreadsMax: 2}, "threads_max=2", func(id string) agent.Op { return &agent.AppendThread{Thread: id} }},
			{agent.Policy{EntriesMax: 2}, "entries_max=2", func(string) agent.Op {
				return &agent.AppendThread{Thread: "a", Entries: []agent.Draft{{Payload: agent.JSON("{}")}}}
			}},
			{agent.Policy{TimersMax: 2}, "timers_max=2", func(id string) agent.Op { return alarm(id) }},
		} {
			k.commit(&agent.PutScope{Policy: one.policy})
			k.commit(one.op("a"))
			k.commit(one.op("b"))
			_, err := k.send(agent.Commit{Ops: []agent.Op{one.op("c")}})
			k.equal("limit", k.failure(agent.CodeQuotaExceeded, err).Limit, one.limit)
		}
		s := k.counters()
		k.equal("agents, threads, entries, timers", []uint64{s.Agents, s.Threads, s.Entries, s.Timers}, []uint64{2, 2, 2, 2})
		k.equal("own", s.OwnPolicy, true)
		k.commit(&agent.PutScope{UseDefault: true})
		k.equal("own policy", k.counters().OwnPolicy, false)
		k.refuseInvalid(agent.CodeInvalid, 0, "use_default", &agent.PutScope{UseDefault: true, Default: true})
		k.refuseInvalid(agent.CodeInvalid, 0, "use_default", &agent.PutScope{UseDefault: true, Policy: agent.Policy{KeysMax: 1}})
	}},

	{"entries_that_only_forks_read_count", func(k *kit) {
		k.commit(&agent.PutValue{Key: "v"})
		before := k.counters().Bytes
		large := agent.Draft{Kind: "message", Payload: agent.JSON(`{"x":"` + strings.Repeat("x", 10_000) + `"}`)}
		k.commit(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{large, large, large}})
		whole := k.counters().Bytes
		k.commit(&agent.ForkThread{Thread: "t", NewThread: "u", AtRev: ptr(uint64(2))}, &agent.ForkThread{Thread: "u", NewThread: "v", AtRev: ptr(uint64(1))})
		if got := k.counters().Bytes; got >= whole+10_000 {
			k.Fatalf("%d bytes with forks, which share entries, %d without", got, whole)
		}
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 1})
		if got := k.counters().Bytes; got < whole {
			k.Fatalf("%d bytes after a compaction up to the fork, %d before", got, whole)
		}
		k.commit(&agent.DeleteThread{Thread: "t"})
		if got := k.counters().Bytes; got < before+20_000 || got >= before+30_000 {
			k.Fatalf("%d bytes with the two entries that forks read, %d without a thread", got, before)
		}
		k.commit(&agent.DeleteThread{Thread: "u"})
		if got := k.counters().Bytes; got < before+10_000 || got >= before+20_000 {
			k.Fatalf("%d bytes with the entry that the last fork reads, %d without a thread", got, before)
		}
		k.commit(&agent.DeleteThread{Thread: "v"})
		k.equal("bytes without threads", k.counters().Bytes, before)
	}},

	{"a_policy_limits_bytes", func(k *kit) {
		k.commit(&agent.PutScope{Policy: agent.Policy{BytesMax: 5000}})
		k.commit(&agent.PutValue{Key: "a", Bytes: make([]byte, 3000)})
		_, err := k.send(agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "b", Bytes: make([]byte, 3000)}}})
		k.failure(agent.CodeQuotaExceeded, err)
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: "b"})
		k.commit(&agent.DeleteValue{Key: "a"}, &agent.PutValue{Key: "b", Bytes: make([]byte, 3000)})
	}},

	{"scopes_are_listed", func(k *kit) {
		base := newName("list")
		var names []string
		for _, suffix := range []string{"a", "b", "c"} {
			names = append(names, base+suffix)
			k.in(base + suffix).commit(&agent.PutValue{Key: "v"})
		}
		list := func(p agent.Page) agent.Read { return &agent.ListScopes{Page: p} }
		k.equal("scopes", k.pages(agent.Page{Prefix: base}, list), names)
		k.equal("scopes, one a page", k.pages(agent.Page{Prefix: base, Limit: 1}, list), names)
		row := find[*agent.ScopeList](k, &agent.ListScopes{Page: agent.Page{Prefix: base}}).Items[0]
		k.equal("row", row, k.in(base+"a").counters())
	}},

	{"a_scope_is_deleted_whole", func(k *kit) {
		other := k.in(k.scope + "x") // with the same prefix
		for _, one := range []*kit{k, other} {
			one.commit(hibernate("t", `{"n":1}`, 0, messages("m", 0, 3)...)...)
			one.commit(&agent.PutValue{Key: "v"}, &agent.PutScope{Policy: agent.Policy{History: 2}})
		}
		before := k.thread("t")
		if r := apply[*agent.DeleteResult](k, &agent.DeleteScope{}); !r.Existed {
			k.Fatal("it did not exist")
		}
		for _, read := range []agent.Read{&agent.GetScope{}, &agent.GetCheckpoint{Key: "a"}, &agent.CheckpointHistory{Key: "a"}, &agent.GetThread{Thread: "t"}, &agent.LoadEntries{Thread: "t"}, &agent.GetValue{Key: "v"}, &agent.Thaw{Key: "a"}} {
			k.lacks(agent.CodeNotFound, read)
		}
		k.equal("scopes", k.pages(agent.Page{Prefix: k.scope}, func(p agent.Page) agent.Read { return &agent.ListScopes{Page: p} }), []string{other.scope})
		k.equal("the other scope's entries", ids(other.entries("t")), "m0 m1 m2")
		k.equal("the other scope's keys", other.counters().Keys, uint64(3))

		if r := apply[*agent.DeleteResult](k, &agent.DeleteScope{}); r.Existed {
			k.Fatal("it existed after it was deleted")
		}
		k.appendTo("t", messages("new", 0, 1)...)
		k.equal("keys, whether it has a policy of its own", []any{k.counters().Keys, k.counters().OwnPolicy}, []any{uint64(1), false})
		k.equal("entries", ids(k.entries("t")), "new0")
		if after := k.thread("t"); after.Incarnation <= before.Incarnation {
			k.Fatalf("incarnation %d came after %d", after.Incarnation, before.Incarnation)
		}
	}},
}
