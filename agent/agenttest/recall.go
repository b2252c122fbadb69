package agenttest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"dormouse/agent"
)

var recallClaims = []claim{
	{"text_is_found_by_its_words_best_first", func(k *kit) {
		for id, content := range map[string]string{
			"cat": "The cat sat on the mat.", "cats": "Cats, cats, cats!", "dog": "A dog chases a cat's tail", "東京": "東京の天気は晴れ", "x": "nothing",
		} {
			k.remember(id, "", content)
		}
		got := k.recalled(agent.Recall{Mode: agent.ModeText, Query: "CATS"})
		k.equal("matched, entries", []uint64{got.Matched, got.Entries}, []uint64{3, 5})
		if len(got.Items) != 3 || got.Items[0].Memory.ID != "cats" {
			k.Fatalf("recalled %+v", got.Items)
		}
		for i, item := range got.Items {
			if item.Score <= 0 || i > 0 && item.Score > got.Items[i-1].Score {
				k.Fatalf("item %d scores %v", i, item.Score)
			}
		}
		k.equal("chased", k.recall(agent.Recall{Mode: agent.ModeText, Query: "who chased?"}), "dog")
		k.equal("天気", k.recall(agent.Recall{Mode: agent.ModeText, Query: "天気"}), "東京")
		k.equal("unknown", k.recall(agent.Recall{Mode: agent.ModeText, Query: "unicorns"}), "")
	}},

	{"vectors_are_found_by_their_cosine", func(k *kit) {
		for id, v := range map[string][]float32{"east": {2, 0}, "north": {0, 0.5}, "northeast": {3, 3}, "west": {-1, 0}} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: id, Content: "x", Embedding: v})
		}
		k.remember("nowhere", "", "x")
		got := k.recalled(agent.Recall{Mode: agent.ModeVector, Embedding: []float32{10, 1}})
		var ids []string
		for _, item := range got.Items {
			ids = append(ids, item.Memory.ID)
		}
		k.equal("nearest first", ids, []string{"east", "northeast", "north", "west"})
		if cos := 10 / math.Sqrt(101); math.Abs(got.Items[0].Score-cos) > 1e-5 {
			k.Fatalf("scores %v, want %v", got.Items[0].Score, cos)
		}
	}},

	{"a_vector_of_another_length_is_refused", func(k *kit) {
		k.commit(&agent.WriteMemory{Agent: "a", ID: "m", Content: "x", Embedding: []float32{1, 2}})
		e := k.lacks(agent.CodeInvalid, &agent.Recall{Agent: "a", Mode: agent.ModeVector, Embedding: []float32{1, 2, 3}})
		k.equal("field", e.Field, "embedding")
		e = k.refuse(agent.CodeInvalid, 0, &agent.WriteMemory{Agent: "a", ID: "n", Content: "x", Embedding: []float32{1}})
		k.equal("field", e.Field, "embedding")
		k.equal("an agent without any", k.recall(agent.Recall{Agent: "b", Mode: agent.ModeVector, Embedding: []float32{1}}), "")
	}},

	{"hybrid_merges_both_ranks", func(k *kit) {
		for _, m := range []struct {
			id, content string
			vector      []float32
		}{{"text", "green tea", []float32{-1, 0.1}}, {"both", "black tea", []float32{1, 0.5}}, {"vector", "a walk", []float32{1, 0}}} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: m.id, Content: m.content, Embedding: m.vector})
		}
		got := k.recalled(agent.Recall{Mode: agent.ModeHybrid, Query: "tea", Embedding: []float32{1, 0}})
		if len(got.Items) != 3 || got.Items[0].Memory.ID != "both" || math.Abs(got.Items[0].Score-(1.0/61+1.0/62)) > 1e-9 {
			k.Fatalf("recalled %+v", got.Items)
		}
	}},

	{"a_recall_sees_every_write_before_it", func(k *kit) {
		for i := range 20 {
			id := fmt.Sprint("m", i%4)
			word := fmt.Sprint("word", i)
			k.commit(&agent.WriteMemory{Agent: "a", ID: id, Content: "tea " + word, Embedding: []float32{1, float32(i)}})
			if i%3 == 2 {
				k.commit(&agent.DeleteMemory{Agent: "a", ID: fmt.Sprint("m", (i+1)%4)})
			}
			k.equal("the newest, by text", k.recall(agent.Recall{Mode: agent.ModeText, Query: word}), id)
			k.equal("the newest, by vector", k.recall(agent.Recall{Mode: agent.ModeVector, Embedding: []float32{1, float32(i)}, Limit: 1}), id)
			entries := len(find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a"}).Items)
			k.equal("by text", k.recalled(agent.Recall{Mode: agent.ModeText, Query: "tea"}).Matched, uint64(entries))
		}
	}},

	{"recalls_tell_what_they_were_asked", func(k *kit) {
		k.remember("m", "s", "tea")
		asked := agent.Recall{
			Agent: "a", Session: "s", Mode: agent.ModeText, Query: "tea", Metadata: agent.JSON(`{"trace":"1"}`),
			Filter: agent.MemoryFilter{Kinds: []string{"event"}, Since: ptr(int64(1))},
		}
		got := find[*agent.Recalled](k, &asked)
		asked.Within, asked.Limit = agent.WithinAgent, agent.RecallLimitDefault
		k.equal("request", got.Request, asked)
		k.equal("items", len(got.Items), 1)
	}},

	{"sessions_keep_their_memories_in_all_modes", func(k *kit) {
		for _, session := range []string{"", "s", "t"} {
			k.commit(&agent.WriteMemory{Agent: "a", ID: "of-" + session, Session: session, Content: "tea", Embedding: []float32{1}})
		}
		for _, q := range []agent.Recall{
			{Mode: agent.ModeText, Query: "tea"},
			{Mode: agent.ModeVector, Embedding: []float32{1}},
			{Mode: agent.ModeHybrid, Query: "tea", Embedding: []float32{1}},
		} {
			q.Session = "s"
			k.equal(q.Mode, k.recall(q), "of-s of-")
		}
	}},

	{"recalls_that_are_wrong_are_refused_at_the_door", func(k *kit) {
		one := []float32{1}
		for _, wrong := range []struct {
			field string
			q     agent.Recall
		}{
			{"agent", agent.Recall{Query: "x"}},
			{"query", agent.Recall{Agent: "a"}},
			{"query", agent.Recall{Agent: "a", Mode: agent.ModeText, Query: " \n"}},
			{"query", agent.Recall{Agent: "a", Mode: agent.ModeHybrid, Embedding: one}},
			{"query", agent.Recall{Agent: "a", Mode: agent.ModeQuery, Query: "x"}},
			{"embedding", agent.Recall{Agent: "a", Mode: agent.ModeVector}},
			{"embedding", agent.Recall{Agent: "a", Mode: agent.ModeHybrid, Query: "x"}},
			{"embedding", agent.Recall{Agent: "a", Mode: agent.ModeText, Query: "x", Embedding: one}},
			{"embedding", agent.Recall{Agent: "a", Mode: agent.ModeVector, Embedding: []float32{0, 0}}},
			{"mode", agent.Recall{Agent: "a", Mode: "best", Query: "x"}},
			{"within", agent.Recall{Agent: "a", Within: "thread", Query: "x"}},
			{"session_id", agent.Recall{Agent: "a", Session: "..", Query: "x"}},
			{"classes[0]", agent.Recall{Agent: "a", Query: "x", Filter: agent.MemoryFilter{Classes: []string{"short"}}}},
			{"since", agent.Recall{Agent: "a", Query: "x", Filter: agent.MemoryFilter{Since: ptr(int64(2)), Until: ptr(int64(1))}}},
			{"text_contains", agent.Recall{Agent: "a", Query: "x", Filter: agent.MemoryFilter{Contains: "x"}}},
			{"order", agent.Recall{Agent: "a", Query: "x", Ascending: true}},
		} {
			k.refuseRecall(wrong.field, wrong.q)
		}
		_, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: []agent.Read{
			&agent.Recall{Agent: "a", Mode: agent.ModeText, Query: strings.Repeat("x", agent.RecallQueryBytesMax+1)},
		}})
		if !errors.Is(err, agent.ErrTooLarge) {
			k.Fatalf("a long query: %v", err)
		}
	}},

	{"memories_that_are_wrong_are_refused_at_the_door", func(k *kit) {
		for _, wrong := range []struct {
			field string
			op    agent.Op
		}{
			{"agent", &agent.WriteMemory{Content: "x"}},
			{"content", &agent.WriteMemory{Agent: "a"}},
			{"id", &agent.WriteMemory{Agent: "a", ID: "..", Content: "x"}},
			{"session_id", &agent.WriteMemory{Agent: "a", Session: "\x00", Content: "x"}},
			{"class", &agent.WriteMemory{Agent: "a", Class: "short", Content: "x"}},
			{"tags[1]", &agent.WriteMemory{Agent: "a", Tags: []string{"x", " "}, Content: "x"}},
			{"data", &agent.WriteMemory{Agent: "a", Data: agent.JSON(`[1]`)}},
			{"embedding", &agent.WriteMemory{Agent: "a", Content: "x", Embedding: []float32{0}}},
			{"embedding", &agent.WriteMemory{Agent: "a", Content: "x", Embedding: []float32{float32(math.Inf(1))}}},
			{"expires_at", &agent.WriteMemory{Agent: "a", Content: "x", ExpiresAt: -1}},
			{"ttl", &agent.WriteMemory{Agent: "a", Content: "x", ExpiresAt: 1, TTL: time.Second}},
			{"id", &agent.DeleteMemory{Agent: "a"}},
		} {
			k.refuseInvalid(agent.CodeInvalid, 0, wrong.field, wrong.op)
		}
		for _, large := range []struct {
			field string
			op    *agent.WriteMemory
		}{
			{"content", &agent.WriteMemory{Agent: "a", Content: strings.Repeat("x", agent.MemoryBytesMax-len("event{}")+1)}},
			{"tags", &agent.WriteMemory{Agent: "a", Content: "x", Tags: make([]string, agent.MemoryTagsMax+1)}},
			{"embedding", &agent.WriteMemory{Agent: "a", Content: "x", Embedding: make([]float32, agent.EmbeddingMax+1)}},
		} {
			k.refuseInvalid(agent.CodeTooLarge, 0, large.field, large.op)
		}
		k.remember("m", "", strings.Repeat("x", agent.MemoryBytesMax-len("event{}")))
	}},

	{"deletes_of_memories_stick", func(k *kit) {
		first := k.remember("m", "", "x")
		deleted := apply[*agent.DeleteResult](k, &agent.DeleteMemory{Agent: "a", ID: "m"})
		k.equal("deleted", deleted, &agent.DeleteResult{Existed: true, Incarnation: first.Incarnation})
		k.equal("once more", apply[*agent.DeleteResult](k, &agent.DeleteMemory{Agent: "a", ID: "m"}), &agent.DeleteResult{})
		k.refuse(agent.CodeDeleted, 0, &agent.WriteMemory{Agent: "a", ID: "m", Content: "late", IfIncarnation: first.Incarnation})
		if second := k.remember("m", "", "y"); second.Incarnation <= first.Incarnation || second.Revision != 1 {
			k.Fatalf("%+v follows %+v", second, first)
		}
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.DeleteMemory{Agent: "a", ID: "m", IfRevision: ptr(uint64(2))})
		k.commit(&agent.DeleteMemory{Agent: "a", ID: "m", IfRevision: ptr(uint64(1)), Seal: time.Hour})
		k.refuse(agent.CodeDeleted, 0, &agent.WriteMemory{Agent: "a", ID: "m", Content: "x"})
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.WriteMemory{Agent: "a", ID: "n", Content: "x", IfRevision: ptr(uint64(1))})
	}},

	{"what_an_agent_remembers_is_bounded_by_the_policy", func(k *kit) {
		k.commit(&agent.PutScope{Policy: agent.Policy{MemoriesMax: 2, MemoryBytesMax: 100}})
		k.remember("m", "", "x")
		k.remember("n", "", "x")
		for limit, op := range map[string]*agent.WriteMemory{
			"memories_max=2":       {Agent: "a", ID: "o", Content: "x"},
			"memory_bytes_max=100": {Agent: "a", ID: "m", Content: strings.Repeat("x", 93)},
		} {
			_, err := k.send(agent.Commit{Ops: []agent.Op{op}})
			k.equal("limit", k.refused(agent.CodeOverloaded, 0, err).Limit, limit)
		}
		k.commit(&agent.DeleteMemory{Agent: "a", ID: "m"})
		k.remember("o", "", "x")
		k.commit(&agent.WriteMemory{Agent: "b", ID: "m", Content: "x"})
	}},

	{"a_memory_may_shrink_over_a_lowered_bound", func(k *kit) {
		k.remember("m", "", strings.Repeat("x", 90))
		k.remember("n", "", strings.Repeat("x", 90))
		k.commit(&agent.PutScope{Policy: agent.Policy{MemoryBytesMax: 100}})
		k.remember("m", "", strings.Repeat("x", 90))
		k.remember("m", "", strings.Repeat("x", 80))
		_, err := k.send(agent.Commit{Ops: []agent.Op{&agent.WriteMemory{Agent: "a", ID: "m", Content: strings.Repeat("x", 81)}}})
		k.equal("limit", k.refused(agent.CodeOverloaded, 0, err).Limit, "memory_bytes_max=100")
	}},

	{"memories_count_as_keys_and_bytes", func(k *kit) {
		k.commit(&agent.PutValue{Key: "v"})
		before := k.counters()
		k.commit(&agent.WriteMemory{Agent: "a", ID: "m", Kind: "k", Content: "123", Tags: []string{"45"}, Embedding: []float32{1}})
		now := k.counters()
		k.equal("keys, bytes", []uint64{now.Keys - before.Keys, now.Bytes - before.Bytes}, []uint64{1, uint64(len("k123"+"45"+"{}") + 4)})
		k.commit(&agent.DeleteMemory{Agent: "a", ID: "m"})
		k.equal("counters", k.counters(), before)
	}},

	{"memories_are_listed_in_order_of_ids", func(k *kit) {
		for _, id := range []string{"b1", "a", "b2", "b0", "c"} {
			k.remember(id, "", "x")
		}
		var ids []string
		page := agent.Page{Prefix: "b", Limit: 2}
		for range 5 {
			list := find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a", Page: page})
			for _, m := range list.Items {
				ids = append(ids, m.ID)
			}
			if page.After = list.Next; page.After == "" {
				break
			}
		}
		k.equal("listed", ids, []string{"b0", "b1", "b2"})
	}},

	{"a_turn_remembers_or_nothing_happens", func(k *kit) {
		k.refuse(agent.CodeNotFound, 1, &agent.WriteMemory{Agent: "a", ID: "m", Content: "x"}, &agent.PatchCheckpoint{Key: "none", Patch: agent.JSON(`{}`)})
		k.equal("recalled", k.recall(agent.Recall{}), "")
		k.commit(
			&agent.AppendThread{Thread: "t", Entries: messages("u", 0, 2)},
			&agent.WriteMemory{Agent: "a", ID: "m", Content: agent.ConversationText("hi", "hello")},
		)
		k.equal("content", k.recalled(agent.Recall{}).Items[0].Memory.Content, "User: hi\nAssistant: hello")
	}},
}
