package agenttest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"dormouse/agent"
)

// remember writes a memory of agent a, in a session unless that is "".
func (k *kit) remember(id, session, content string) *agent.MemoryResult {
	k.Helper()
	return apply[*agent.MemoryResult](k, &agent.WriteMemory{Agent: "a", ID: id, Session: session, Content: content})
}

// recall returns the ids that a recall finds; the default agent is a.
func (k *kit) recall(q agent.Recall) string {
	k.Helper()
	var ids []string
	for _, item := range k.recalled(q).Items {
		ids = append(ids, item.Memory.ID)
	}
	return strings.Join(ids, " ")
}

func (k *kit) recalled(q agent.Recall) *agent.Recalled {
	k.Helper()
	if q.Agent == "" {
		q.Agent = "a"
	}
	if q.Mode == "" {
		q.Query = "what is there?"
	}
	return find[*agent.Recalled](k, &q)
}

// refuseRecall sends a recall that Validate must refuse.
func (k *kit) refuseRecall(field string, q agent.Recall) {
	k.Helper()
	_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&q}})
	if e := k.failure(agent.CodeInvalid, err); e.Field != field {
		k.Fatalf("the wrong field is %q, want %q: %+v", e.Field, field, e)
	}
}

func query(f agent.MemoryFilter) agent.Recall {
	return agent.Recall{Mode: agent.ModeQuery, Filter: f}
}

var memoryClaims = []claim{
	{"memories_are_read_back_whole", func(k *kit) {
		written := &agent.WriteMemory{
			Agent: "a", ID: "m", Session: "s", Class: agent.MemoryProcedural, Kind: "recipe", Content: "steep for <3> min – 茶",
			Data: agent.JSON(`{ "n": 18446744073709551615 }`), Tags: []string{"tea", " green ", "tea"}, Source: "chat",
			Metadata: agent.JSON(`{"z":1,"a":2}`), Embedding: []float32{0.1, -2, 3e-9}, ObservedAt: ptr(int64(-7)), TTL: time.Hour,
		}
		result := k.commit(written)
		done := resultOf[*agent.MemoryResult](k, result, 0)
		want := agent.Memory{
			Agent: "a", ID: "m", Incarnation: done.Incarnation, Revision: 1, Session: "s", Class: "procedural", Kind: "recipe",
			Content: "steep for <3> min – 茶", Data: agent.JSON(`{"n":18446744073709551615}`), Tags: []string{"tea", "green"}, Source: "chat",
			Metadata: agent.JSON(`{"z":1,"a":2}`), Embedding: []float32{0.1, -2, 3e-9}, ObservedAt: -7,
			CreatedAt: result.Time, UpdatedAt: result.Time, ExpiresAt: result.Time + time.Hour.Milliseconds(),
		}
		k.equal("result", done, &agent.MemoryResult{
			Agent: "a", ID: "m", Incarnation: done.Incarnation, Revision: 1, CreatedAt: result.Time, UpdatedAt: result.Time,
		})
		k.equal("memory", find[*agent.Memory](k, &agent.GetMemory{Agent: "a", ID: "m"}), &want)
		want.Embedding = nil // lists and recalls omit it
		k.equal("list", find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a"}).Items, []agent.Memory{want})
		k.equal("recall", k.recalled(agent.Recall{Session: "s"}).Items, []agent.RecalledMemory{{Memory: want}})
	}},

	{"ME-1_the_last_written_comes_first", func(k *kit) {
		for _, id := range []string{"m", "o", "n"} {
			k.remember(id, "", "x")
		}
		k.equal("recalled", k.recall(agent.Recall{}), "n o m")
	}},

	{"ME-2_writing_again_moves_to_the_head", func(k *kit) {
		for _, id := range []string{"m", "n", "o"} {
			k.remember(id, "", "x")
		}
		if again := k.remember("m", "", "y"); again.Revision != 2 {
			k.Fatalf("written again: %+v", again)
		}
		k.equal("recalled", k.recall(agent.Recall{}), "m o n")
		k.equal("content", k.recalled(agent.Recall{Limit: 1}).Items[0].Memory.Content, "y")
		k.remember("m", "s", "z") // it moves from no session to session s
		k.equal("of none", k.recall(agent.Recall{}), "o n")
		k.equal("of the session", k.recall(agent.Recall{Session: "s", Within: agent.WithinSession}), "m")
	}},

	{"ME-3_a_session_sees_its_own_and_those_of_none", func(k *kit) {
		for _, m := range [][2]string{{"none", ""}, {"s1", "s"}, {"t1", "t"}, {"none2", ""}, {"s2", "s"}} {
			k.remember(m[0], m[1], "x")
		}
		for _, c := range []struct{ within, session, want string }{
			{agent.WithinAgent, "", "none2 none"},
			{agent.WithinAgent, "s", "s2 none2 s1 none"},
			{agent.WithinAgent, "u", "none2 none"},
			{agent.WithinSession, "s", "s2 s1"},
			{agent.WithinSession, "", "none2 none"},
			{agent.WithinSession, "u", ""},
			{"", "t", "none2 t1 none"},
			{agent.WithinAll, "", "s2 none2 t1 s1 none"},
		} {
			k.equal(c.within+" "+c.session, k.recall(agent.Recall{Within: c.within, Session: c.session}), c.want)
		}
	}},

	{"ME-4_the_query_of_recent_has_no_effect", func(k *kit) {
		k.remember("m", "", "tea")
		k.remember("n", "", "coffee")
		k.equal("recalled", k.recall(agent.Recall{Mode: agent.ModeRecent, Query: "tea"}), "n m")
	}},

	{"ME-5_a_recall_gives_no_more_than_its_limit", func(k *kit) {
		for i := range 7 {
			k.remember(fmt.Sprint(i), "", "x")
		}
		k.equal("by default", k.recall(agent.Recall{}), "6 5 4 3 2")
		k.equal("two", k.recall(agent.Recall{Limit: 2}), "6 5")
		k.equal("all", k.recall(agent.Recall{Limit: agent.RecallLimitMax}), "6 5 4 3 2 1 0")
	}},

	{"ME-6_agents_remember_apart", func(k *kit) {
		k.remember("m", "", "mine")
		apply[*agent.MemoryResult](k, &agent.WriteMemory{Agent: "b", ID: "m", Content: "theirs"})
		apply[*agent.MemoryResult](k, &agent.WriteMemory{Agent: "a/m", ID: "n", Content: "others'"})
		for _, mode := range []agent.Recall{{}, query(agent.MemoryFilter{}), {Mode: agent.ModeText, Query: "mine theirs others'"}} {
			got := k.recalled(mode)
			if len(got.Items) != 1 || got.Items[0].Memory.Content != "mine" || got.Entries != 1 {
				k.Fatalf("agent a recalls %+v", got)
			}
		}
		k.commit(&agent.DeleteMemory{Agent: "b", ID: "m"})
		k.equal("recalled", k.recall(agent.Recall{}), "m")
		k.equal("in another scope", k.in(newName("scope")).recall(agent.Recall{}), "")
	}},

	{"ME-8_an_equal_record_has_an_equal_id", func(k *kit) {
		write := func(change func(*agent.WriteMemory)) *agent.MemoryResult {
			op := &agent.WriteMemory{Agent: "a", Content: "x", Tags: []string{"t"}, ObservedAt: ptr(int64(5))}
			change(op)
			return apply[*agent.MemoryResult](k, op)
		}
		same := func(*agent.WriteMemory) {}
		first := write(same)
		if !strings.HasPrefix(first.ID, "mem_") || len(first.ID) != len("mem_")+24 || strings.Trim(first.ID[4:], "0123456789abcdef") != "" {
			k.Fatalf("the id is %q", first.ID)
		}
		again := write(func(o *agent.WriteMemory) { o.Tags = []string{" t", "t"}; o.Class = "episodic"; o.Kind = "event" })
		k.equal("the second time", []any{again.ID, again.Revision}, []any{first.ID, uint64(2)})
		seen := map[string]bool{first.ID: true}
		for i, change := range []func(*agent.WriteMemory){
			func(o *agent.WriteMemory) { o.ObservedAt = ptr(int64(6)) },
			func(o *agent.WriteMemory) { o.ObservedAt = nil },
			func(o *agent.WriteMemory) { o.Content = "y" },
			func(o *agent.WriteMemory) { o.Session = "s" },
			func(o *agent.WriteMemory) { o.Tags = nil },
			func(o *agent.WriteMemory) { o.Kind = "fact" },
			func(o *agent.WriteMemory) { o.Metadata = agent.JSON(`{"a":1}`) },
		} {
			if other := write(change); seen[other.ID] {
				k.Fatalf("record %d has the id of another", i)
			} else {
				seen[other.ID] = true
			}
		}
	}},

	{"ME-9_any_of_the_tags_or_all_of_them", func(k *kit) {
		for id, tags := range map[string][]string{"m": {"x"}, "n": {"x", "y"}, "o": {"y", "z"}, "p": nil} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: id, Content: "x", Tags: tags, ObservedAt: ptr(int64(1))})
		}
		for _, c := range []struct {
			any, all []string
			want     string
		}{
			{nil, nil, "p o n m"},
			{[]string{"x"}, nil, "n m"},
			{[]string{"x", "z"}, nil, "o n m"},
			{nil, []string{"x", "y"}, "n"},
			{nil, []string{"y"}, "o n"},
			{[]string{"x", "z"}, []string{"y"}, "o n"},
			{[]string{"w"}, nil, ""},
		} {
			k.equal(fmt.Sprint(c.any, c.all), k.recall(query(agent.MemoryFilter{TagsAny: c.any, TagsAll: c.all})), c.want)
		}
	}},

	{"ME-10_since_and_until_are_inclusive", func(k *kit) {
		for id, at := range map[string]int64{"1": 1, "2": 2, "3": 3, "0": 0, "-1": -1} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: id, Content: "x", ObservedAt: &at})
		}
		for _, c := range []struct {
			since, until *int64
			want         string
		}{
			{nil, nil, "3 2 1 0 -1"},
			{ptr(int64(2)), nil, "3 2"},
			{nil, ptr(int64(0)), "0 -1"},
			{ptr(int64(-1)), ptr(int64(1)), "1 0 -1"},
			{ptr(int64(2)), ptr(int64(2)), "2"},
			{ptr(int64(4)), ptr(int64(math.MaxInt64)), ""},
		} {
			f := agent.MemoryFilter{Since: c.since, Until: c.until}
			k.equal("observed between", k.recall(query(f)), c.want)
			k.equal("as a filter of text", len(k.recalled(agent.Recall{Mode: agent.ModeText, Query: "x", Filter: f}).Items), len(strings.Fields(c.want)))
		}
	}},

	{"ME-11_what_expires_now_has_expired", func(k *kit) {
		result := k.commit(&agent.WriteMemory{Agent: "a", ID: "m", Content: "x", ExpiresAt: 1})
		k.commit(&agent.WriteMemory{Agent: "a", ID: "n", Content: "x", ExpiresAt: result.Time})
		k.commit(&agent.WriteMemory{Agent: "a", ID: "o", Content: "x", ExpiresAt: result.Time + time.Hour.Milliseconds()})
		k.lacks(agent.CodeNotFound, &agent.GetMemory{Agent: "a", ID: "m"})
		k.lacks(agent.CodeNotFound, &agent.GetMemory{Agent: "a", ID: "n"})
		for _, q := range []agent.Recall{{}, query(agent.MemoryFilter{}), {Mode: agent.ModeText, Query: "x"}} {
			k.equal("recalled", k.recall(q), "o")
		}
		k.equal("listed", len(find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a"}).Items), 1)
	}},

	{"ME-12_equal_times_are_in_order_of_ids", func(k *kit) {
		for _, id := range []string{"b", "c", "a"} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: id, Content: "x", ObservedAt: ptr(int64(5))})
		}
		k.commit(&agent.WriteMemory{Agent: "a", ID: "late", Content: "x", ObservedAt: ptr(int64(6))})
		k.equal("newest first", k.recall(query(agent.MemoryFilter{})), "late c b a")
		k.equal("oldest first", k.recall(agent.Recall{Mode: agent.ModeQuery, Ascending: true}), "a b c late")
	}},

	{"ME-13_a_limit_has_a_cap", func(k *kit) {
		var ops []agent.Op
		for i := range 22 {
			ops = append(ops, &agent.WriteMemory{Agent: "a", ID: fmt.Sprintf("%02d", i), Content: "x"})
		}
		k.commit(ops...)
		k.equal("by default", len(k.recalled(query(agent.MemoryFilter{})).Items), agent.QueryLimitDefault)
		q := query(agent.MemoryFilter{})
		q.Limit = agent.RecallLimitMax
		k.equal("at the cap", len(k.recalled(q).Items), 22)
		q.Agent, q.Limit = "a", agent.RecallLimitMax+1
		past := k.recalled(q)
		k.equal("past the cap", []any{len(past.Items), past.Request.Limit}, []any{22, uint64(agent.RecallLimitMax)})
		list := find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a", Page: agent.Page{Limit: agent.ListLimitMax + 1}})
		k.equal("listed", []any{len(list.Items), list.Next}, []any{22, ""})
	}},

	{"the_memories_of_all_agents_are_listed_oldest_first", func(k *kit) {
		listed := func(page agent.Page) (string, string) {
			k.Helper()
			list := find[*agent.MemoryList](k, &agent.ListMemories{Page: page})
			var ids []string
			for _, m := range list.Items {
				ids = append(ids, m.Agent+":"+m.ID)
			}
			return strings.Join(ids, " "), list.Next
		}
		all := func() string { k.Helper(); ids, _ := listed(agent.Page{}); return ids }
		k.equal("at first", all(), "")
		k.commit(&agent.WriteMemory{Agent: "b", ID: "z", Content: "x"}, &agent.WriteMemory{Agent: "a", ID: "y", Content: "x"},
			&agent.WriteMemory{Agent: "b", ID: "x", Content: "x", Embedding: []float32{1}}, &agent.WriteMemory{Agent: "c", ID: "z", Content: "x"})
		k.equal("written by one commit", all(), "b:z a:y b:x c:z")
		k.commit(&agent.WriteMemory{Agent: "b", ID: "z", Content: "y"})
		k.equal("after one was written again", all(), "a:y b:x c:z b:z")
		var paged []string
		for page := (agent.Page{Limit: 3}); ; {
			ids, next := listed(page)
			paged = append(paged, strings.Fields(ids)...)
			if page.After = next; next == "" {
				break
			}
		}
		k.equal("in pages", strings.Join(paged, " "), "a:y b:x c:z b:z")
		for _, m := range find[*agent.MemoryList](k, &agent.ListMemories{}).Items {
			k.equal("embedding", m.Embedding, []float32(nil))
		}
		k.commit(&agent.DeleteMemory{Agent: "c", ID: "z"}, &agent.WriteMemory{Agent: "a", ID: "w", Content: "x", ExpiresAt: 1})
		k.equal("after one was deleted, and one has expired", all(), "a:y b:x b:z")
		k.commit(&agent.EraseAgent{Agent: "b"}, &agent.WriteMemory{Agent: "b", ID: "x", Content: "new"})
		k.equal("after an agent was erased", all(), "a:y b:x")
		other := k.in(newName("scope"))
		k.equal("in another scope", len(find[*agent.MemoryList](other, &agent.ListMemories{}).Items), 0)
		_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{&agent.ListMemories{Page: agent.Page{Prefix: "a"}}}})
		k.equal("field", k.failure(agent.CodeInvalid, err).Field, "prefix")
	}},

	{"a_query_goes_by_class_kind_and_text", func(k *kit) {
		k.commit(&agent.WriteMemory{Agent: "a", ID: "m", Class: agent.MemorySemantic, Kind: "fact", Content: "Green TEA", Session: "s"})
		k.commit(&agent.WriteMemory{Agent: "a", ID: "n", Kind: "fact", Data: agent.JSON(`{"drink":"Tea"}`)})
		k.commit(&agent.WriteMemory{Agent: "a", ID: "o", Content: "coffee"})
		for _, c := range []struct {
			filter agent.MemoryFilter
			want   string
		}{
			{agent.MemoryFilter{Classes: []string{agent.MemorySemantic, agent.MemoryWorking}}, "m"},
			{agent.MemoryFilter{Classes: []string{agent.MemoryEpisodic}}, "o n"},
			{agent.MemoryFilter{Kinds: []string{"fact"}}, "n m"},
			{agent.MemoryFilter{Kinds: []string{"fact", "event"}}, "o n m"},
			{agent.MemoryFilter{Contains: "tEa"}, "n m"},
			{agent.MemoryFilter{Contains: "n tea"}, "m"},
			{agent.MemoryFilter{Contains: "wine"}, ""},
		} {
			k.equal(fmt.Sprintf("%+v", c.filter), k.recall(query(c.filter)), c.want)
		}
		q := query(agent.MemoryFilter{})
		q.Within, q.Session = agent.WithinSession, "s"
		k.equal("of a session", k.recall(q), "m")
	}},
}
