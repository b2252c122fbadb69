package agenttest

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
)

// feed collects the changes of a watch. After each event it calls then, which may
// write. It returns when then returns false or the watch ends; last or err is then the
// event or the error that ended it.
//
// A new cluster records no changes at first, and answers unavailable.
func (k *kit) feed(w agent.Watch, then func(seen []agent.Changed) (more bool)) (seen []agent.Changed, last agent.Event, err error) {
	k.Helper()
	w.Scope, w.Changes = k.scope, true
	err = k.onceAble(func() error {
		seen, last, err = k.feedOnce(w, then)
		return err
	})
	if k.ctx.Err() != nil {
		k.Fatalf("nothing more came after %d changes", len(seen))
	}
	return seen, last, err
}

// onceAble calls ask until it returns another result than unavailable. A new cluster
// is unavailable until all nodes report that they support changes.
func (k *kit) onceAble(ask func() error) error {
	for {
		err := ask()
		if agent.CodeOf(err) != agent.CodeUnavailable || k.ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (k *kit) feedOnce(w agent.Watch, then func(seen []agent.Changed) (more bool)) (seen []agent.Changed, last agent.Event, err error) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	for event, err := range k.service.Watch(ctx, w) {
		if err != nil || event.Last() {
			return seen, event, err
		}
		if event.Kind != agent.EventChanges {
			k.Fatalf("a watch of changes yields %+v", event)
		}
		if n := len(event.Changes); n > 0 && event.Through+1 < event.Changes[n-1].Index {
			k.Fatalf("%+v is told in an event through %d", event.Changes[n-1], event.Through)
		}
		if seen = append(seen, event.Changes...); !then(seen) {
			break
		}
	}
	return seen, last, nil
}

// told is feed for a watch that must not end by itself.
func (k *kit) told(w agent.Watch, then func(seen []agent.Changed) (more bool)) []agent.Changed {
	k.Helper()
	seen, last, err := k.feed(w, then)
	if err != nil || last.Kind != agent.EventEntry {
		k.Fatalf("after %d changes: %+v, %v", len(seen), last, err)
	}
	return seen
}

// ended is feed for a watch that must end with an event before any change.
func (k *kit) ended(kind agent.EventKind, w agent.Watch) agent.Event {
	k.Helper()
	seen, last, err := k.feed(w, func([]agent.Changed) bool { return true })
	if err != nil || last.Kind != kind || len(seen) > 0 {
		k.Fatalf("after %d changes: %+v, %v; want event %d", len(seen), last, err, kind)
	}
	return last
}

// recording waits until changes are recorded, and returns the index at which the feed
// begins.
func (k *kit) recording() uint64 {
	k.Helper()
	k.told(agent.Watch{}, func([]agent.Changed) bool { return false })
	return k.commit(&agent.PutValue{Key: "first"}).Index
}

// untilTold returns a function that stops a watch after n changes.
func untilTold(n int) func([]agent.Changed) bool {
	return func(seen []agent.Changed) bool { return len(seen) < n }
}

func (k *kit) say(changes []agent.Changed) (lines []string) {
	for i, c := range changes {
		line := c.Path()
		switch {
		case c.Deleted:
			line += " gone"
		case c.Kind != agent.ChangedClaim:
			line += fmt.Sprint(" ", c.Revision)
		}
		if c.Status != "" {
			line += " " + c.Status
		}
		if i > 0 && (c.Index < changes[i-1].Index || c.Index == changes[i-1].Index && c.Ordinal <= changes[i-1].Ordinal) {
			k.Fatalf("%+v comes after %+v", c, changes[i-1])
		}
		lines = append(lines, line)
	}
	return lines
}

// some makes a commit of several changes, and returns its result and the expected
// changes.
func (k *kit) some() (agent.Result, []string) {
	k.Helper()
	return k.commit(
		&agent.PutValue{Key: "v"}, &agent.PutValue{Key: "v"}, &agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)},
		&agent.DeleteValue{Key: "v"}, &agent.PutCheckpoint{Key: "c"}, &agent.WriteMemory{Agent: "anna", ID: "m", Content: "x"},
	), []string{"values/v 1", "values/v 2", "threads/t 2", "values/v gone", "checkpoints/c 1", "memory/anna/m 1"}
}

var changeClaims = []claim{
	{"a_feed_tells_every_change_in_order", func(k *kit) {
		begin := k.recording()
		result, want := k.some()
		seen := k.told(agent.Watch{From: begin + 1}, untilTold(len(want)))
		k.equal("changes", k.say(seen), want)
		for _, c := range seen {
			k.equal("place", []any{c.Index, c.Time}, []any{result.Index, result.Time})
		}
	}},

	{"a_feed_goes_on_with_what_is_new", func(k *kit) {
		wrote := 0
		seen := k.told(agent.Watch{}, func(seen []agent.Changed) bool {
			if len(seen) == wrote && wrote < 5 {
				k.commit(&agent.PutValue{Key: "v"})
				wrote++
			}
			return len(seen) < 5
		})
		k.equal("changes", k.say(seen), []string{"values/v 1", "values/v 2", "values/v 3", "values/v 4", "values/v 5"})
	}},

	{"a_feed_resumes_without_gap_or_repetition", func(k *kit) {
		begin := k.recording()
		_, want := k.some()
		k.commit(&agent.DeleteCheckpoint{Key: "c"}, &agent.DeleteThread{Thread: "t"})
		want = append(want, "checkpoints/c gone", "threads/t gone")
		var seen []agent.Changed
		w := agent.Watch{From: begin + 1}
		for len(seen) < len(want) {
			next := k.told(w, untilTold(1))[0] // ends the watch in the middle of an index
			seen = append(seen, next)
			w.From, w.Skip = next.Index, next.Ordinal+1
		}
		k.equal("changes", k.say(seen), want)
	}},

	{"a_feed_of_a_prefix", func(k *kit) {
		begin := k.recording()
		k.some()
		for prefix, want := range map[string][]string{
			"values/": {"values/v 1", "values/v 2", "values/v gone"}, "memory/anna/": {"memory/anna/m 1"}, "threads/t": {"threads/t 2"},
		} {
			k.equal(prefix, k.say(k.told(agent.Watch{From: begin + 1, Prefix: prefix}, untilTold(len(want)))), want)
		}
	}},

	{"a_feed_is_of_one_scope", func(k *kit) {
		begin := k.recording()
		k.in(newName("other")).some()
		k.commit(&agent.PutValue{Key: "mine"})
		k.equal("changes", k.say(k.told(agent.Watch{From: begin + 1}, untilTold(1))), []string{"values/mine 1"})
	}},

	{"a_refused_commit_is_not_told", func(k *kit) {
		begin := k.recording()
		k.refuse(agent.CodeRevisionMismatch, 1, &agent.PutValue{Key: "no"}, &agent.PutValue{Key: "no", IfRevision: ptr(uint64(9))})
		k.commit(&agent.PutValue{Key: "yes"})
		k.equal("changes", k.say(k.told(agent.Watch{From: begin + 1}, untilTold(1))), []string{"values/yes 1"})
	}},

	{"claims_are_told_as_they_begin_and_end", func(k *kit) {
		begin := k.recording()
		c := k.take("a")
		k.commit(renew(c)) // a renewal is not a change
		k.commit(release(c))
		seen := k.told(agent.Watch{From: begin + 1}, untilTold(2))
		k.equal("changes", k.say(seen), []string{"claims/c", "claims/c gone"})
		k.equal("epoch", seen[0].Revision, c.Epoch)
	}},

	{"a_value_that_is_moved_or_revised_is_told", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.PutValue{Key: "a"})
		k.commit(&agent.ReviseValue{Key: "a", ContentType: "text/plain"})
		k.commit(&agent.ReviseValue{Key: "a", To: "b"})
		k.equal("changes", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "values/"}, untilTold(4))),
			[]string{"values/a 1", "values/a 2", "values/a gone", "values/b 1"})
	}},

	{"conversations_and_their_messages_are_told", func(k *kit) {
		begin := k.recording()
		k.saveState("c", 0, agent.LifecycleCompletion, blob("hello"))
		k.commit(&agent.PendMessage{ConversationRef: dialogue("c"), Message: agent.JSON(`{"text":"and"}`)})
		k.show(agent.MessageDraft{ID: "m", Role: agent.RoleUser, Type: "text"})
		k.commit(&agent.UpdateMessage{ConversationRef: dialogue("c"), Message: "m", Content: agent.JSON(`{"text":"hi"}`)})
		k.commit(&agent.DeleteConversation{ConversationRef: dialogue("c")})
		seen := k.told(agent.Watch{From: begin + 1, Prefix: "messages/c/"}, untilTold(2))
		k.equal("messages", k.say(seen), []string{"messages/c/m 1", "messages/c/m 2"})
		k.equal("conversation", seen[0].Conversation, "c")
		k.equal("conversations", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "conversations/"}, untilTold(5))),
			[]string{"conversations/c 1", "conversations/c 1", "conversations/c 1", "conversations/c 1", "conversations/c gone"})
	}},

	{"managers_and_timers_are_told", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.PutManager{Manager: keeper()})
		set := apply[*agent.TimerResult](k, alarm("t")).Timer
		k.commit(&agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}, &agent.DeleteManager{Name: keeper().Name})
		name := keeper().Name
		seen := k.told(agent.Watch{From: begin + 1, Prefix: "timers/m/k/"}, untilTold(2))
		k.equal("timers", k.say(seen), []string{fmt.Sprint("timers/m/k/t ", set.Generation), "timers/m/k/t gone"})
		k.equal("timer", []string{seen[0].Manager, seen[0].Instance, seen[0].Key}, []string{"m", "k", "t"})
		k.equal("managers", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "managers/"}, untilTold(2))),
			[]string{"managers/" + name + " 1", "managers/" + name + " gone"})
	}},

	{"what_an_erased_agent_remembered_is_told_as_one", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.WriteMemory{Agent: "a", ID: "x", Content: "tea"}, &agent.WriteMemory{Agent: "a", ID: "y", Content: "coffee"})
		k.commit(&agent.EraseAgent{Agent: "a"})
		k.equal("changes", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "memory/a/"}, untilTold(3))),
			[]string{"memory/a/x 1", "memory/a/y 1", "memory/a/ gone"})
		k.equal("changes of one memory", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "memory/a/x"}, untilTold(2))),
			[]string{"memory/a/x 1", "memory/a/ gone"})
	}},

	{"sessions_are_told_with_their_status", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.PutSession{Session: "s", Agent: "a"})
		k.commit(&agent.CancelSession{Session: "s"})
		k.equal("changes", k.say(k.told(agent.Watch{From: begin + 1, Prefix: "sessions/"}, untilTold(2))),
			[]string{"sessions/s 1 new", "sessions/s 2 cancelled"})
	}},

	{"a_feed_ends_with_its_scope", func(k *kit) {
		begin := k.recording()
		_, last, err := k.feed(agent.Watch{From: begin}, func(seen []agent.Changed) bool {
			if len(seen) == 1 {
				k.commit(&agent.DeleteScope{})
			}
			return true
		})
		k.equal("end", []any{last.Kind, err}, []any{agent.EventDeleted, nil})
		again := k.commit(&agent.PutValue{Key: "again"}).Index
		k.ended(agent.EventDeleted, agent.Watch{From: begin})
		k.equal("changes", k.say(k.told(agent.Watch{From: again}, untilTold(1))), []string{"values/again 1"})
	}},

	{"a_feed_keeps_what_its_policy_says", func(k *kit) {
		begin := k.recording()
		k.equal("policy", apply[*agent.ScopeResult](k, &agent.PutScope{Policy: agent.Policy{ChangesMax: 10}}).Scope.Policy.ChangesMax, uint64(10))
		ops := make([]agent.Op, agent.CommitOpsMax)
		for i := range ops {
			ops[i] = &agent.PutValue{Key: "v"}
		}
		k.commit(ops...)
		newest := k.commit(ops...).Index
		floor := k.ended(agent.EventCompacted, agent.Watch{From: begin}).Floor
		if floor <= begin || floor > newest {
			k.Fatalf("the floor is %d, after changes from %d to %d", floor, begin, newest)
		}
		k.told(agent.Watch{From: floor}, untilTold(10))
	}},

	{"a_feed_from_what_has_not_come_is_invalid", func(k *kit) {
		_, _, err := k.feed(agent.Watch{From: k.recording() + 1<<40}, untilTold(1))
		k.equal("field", k.failure(agent.CodeInvalid, err).Field, "from_index")
	}},

	{"a_feed_shows_what_was_written", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("1")})
		k.commit(&agent.PutValue{Key: "v", Bytes: []byte("2")})
		k.commit(&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":1}`)})
		k.commit(&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":2}`)})
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2)})
		k.commit(&agent.WriteMemory{Agent: "a", ID: "m", Content: "text"})
		k.commit(&agent.TakeClaim{Claim: "l", Holder: "h"})
		k.commit(&agent.DeleteValue{Key: "v"}, &agent.PutValue{Key: "w"})
		var got []string
		for _, c := range k.told(agent.Watch{From: begin + 1, Body: true}, untilTold(9)) {
			body := "-"
			switch f := c.Body.(type) {
			case *agent.Value:
				body = fmt.Sprintf("%q", f.Bytes)
			case *agent.Checkpoint:
				body = string(f.State)
			case *agent.Thread:
				body = fmt.Sprintf("rev %d", f.Rev)
			case *agent.Memory:
				body = f.Content
			}
			got = append(got, c.Path()+" "+body)
		}
		k.equal("bodies", got, []string{
			"values/v -", "values/v -", `checkpoints/c {"n":1}`, `checkpoints/c {"n":2}`, "threads/t rev 2", "memory/a/m text", "claims/l -", "values/v -", `values/w ""`,
		})
		for _, c := range k.told(agent.Watch{From: begin}, untilTold(9)) {
			if c.Body != nil {
				k.Fatalf("a feed that is not asked for bodies has %+v", c)
			}
		}
	}},

	{"a_feed_shows_a_thread_of_which_no_entry_was_added", func(k *kit) {
		begin := k.recording()
		k.commit(&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 3)})
		time.Sleep(2 * time.Millisecond) // the row keeps the time of its last append
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		time.Sleep(2 * time.Millisecond) // the row keeps the time of its last append
		k.commit(&agent.SetTTL{Thread: "t", TTL: time.Hour})
		for i, c := range k.told(agent.Watch{From: begin + 1, Body: true}, untilTold(3))[1:] {
			if t, ok := c.Body.(*agent.Thread); !ok || t.Rev != 3 || t.Floor != 2 {
				k.Fatalf("change %d of the thread's row shows %+v", i+1, c.Body)
			}
		}
	}},

	{"a_feed_shows_nothing_of_what_was_deleted", func(k *kit) {
		begin := k.recording()
		k.commit( // at one time, and the same revisions again
			&agent.PutValue{Key: "v", Bytes: []byte("1")}, &agent.DeleteValue{Key: "v"}, &agent.PutValue{Key: "v", Bytes: []byte("2")},
			&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":1}`)}, &agent.DeleteCheckpoint{Key: "c"}, &agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":2}`)},
		)
		var got []bool
		for _, c := range k.told(agent.Watch{From: begin + 1, Body: true}, untilTold(6)) {
			got = append(got, c.Body != nil)
		}
		k.equal("changes with a body", got, []bool{false, false, true, false, false, true})
	}},

	{"a_feed_that_is_wrong_is_refused", func(k *kit) {
		for field, w := range map[string]agent.Watch{"changes": {Thread: "t"}, "skip": {Skip: 1}, "prefix": {Prefix: "a\x00"}} {
			_, _, err := k.feed(w, untilTold(1))
			k.equal("field", k.failure(agent.CodeInvalid, err).Field, field)
		}
	}},
}
