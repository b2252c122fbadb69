package agenttest

import (
	"context"

	"dormouse/agent"
)

// watch collects the events of a watch of thread t. After each event it calls then,
// which may write. It returns when then returns false or the watch ends.
func (k *kit) watch(from uint64, then func(seen int, event agent.Event) (more bool)) []agent.Event {
	k.Helper()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var events []agent.Event
	for event, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Thread: "t", From: from}) {
		if err != nil {
			k.Fatalf("the watch failed after %d events: %v", len(events), err)
		}
		events = append(events, event)
		if !then(len(events), event) {
			break
		}
	}
	if k.ctx.Err() != nil {
		k.Fatalf("nothing more came after %d events", len(events))
	}
	return events
}

// until returns a function that stops a watch after n events.
func until(n int) func(int, agent.Event) bool {
	return func(seen int, _ agent.Event) bool { return seen < n }
}

func (k *kit) watched(events []agent.Event, want []agent.Entry) {
	k.Helper()
	got := make([]agent.Entry, len(events))
	for i, event := range events {
		k.equal("kind of event", event.Kind, agent.EventEntry)
		got[i] = event.Entry
	}
	k.equal("watched entries", got, want)
}

var watchClaims = []claim{
	{"a_watch_begins_at_its_seq", func(k *kit) {
		k.appendTo("t", messages("m", 0, 5)...)
		all := k.entries("t")
		k.watched(k.watch(0, until(5)), all)
		k.watched(k.watch(3, until(2)), all[3:])
	}},

	{"a_watch_of_a_thread_that_was_created_again_yields_deleted", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		meant := k.thread("t").Incarnation
		k.commit(&agent.DeleteThread{Thread: "t"})
		k.appendTo("t", messages("n", 0, 2)...)
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		var kinds []agent.EventKind
		for event, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Thread: "t", Incarnation: meant}) {
			if err != nil {
				k.Fatalf("the watch failed: %v", err)
			}
			if kinds = append(kinds, event.Kind); event.Kind != agent.EventDeleted {
				break
			}
		}
		k.equal("events", kinds, []agent.EventKind{agent.EventDeleted})
	}},

	{"a_watch_goes_on_with_what_is_new", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		events := k.watch(1, func(seen int, _ agent.Event) bool {
			if seen < 6 {
				k.appendTo("t", messages("m", seen+1, 1)...)
			}
			return seen < 6
		})
		k.watched(events, k.entries("t")[1:])
	}},

	{"a_watch_waits_at_the_end", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		done := make(chan []agent.Event)
		go func() { done <- k.collect(2, 3) }()
		k.appendTo("t", messages("m", 2, 1)...)
		k.appendTo("other", messages("m", 0, 3)...)
		k.appendTo("t", messages("m", 3, 2)...)
		k.watched(<-done, k.entries("t")[2:])
	}},

	{"a_watch_of_an_empty_thread", func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "t"})
		done := make(chan []agent.Event)
		go func() { done <- k.collect(0, 2) }()
		k.appendTo("t", messages("m", 0, 2)...)
		k.watched(<-done, k.entries("t"))
	}},

	{"a_watch_resumes_without_gap_or_repetition", func(k *kit) {
		k.appendTo("t", messages("m", 0, 9)...)
		var events []agent.Event
		for len(events) < 9 {
			events = append(events, k.watch(uint64(len(events)), until(min(2, 9-len(events))))...)
		}
		k.watched(events, k.entries("t"))
	}},

	{"a_watch_of_many_entries", func(k *kit) {
		k.appendTo("t", messages("m", 0, 1000)...)
		k.appendTo("t", messages("m", 1000, 1000)...)
		events := k.watch(0, func(seen int, _ agent.Event) bool {
			if seen == 2000 {
				k.appendTo("t", messages("m", 2000, 1)...)
			}
			return seen < 2001
		})
		k.watched(events, k.entries("t"))
	}},

	{"a_watch_ends_with_its_thread", func(k *kit) {
		k.appendTo("t", messages("m", 0, 2)...)
		events := k.watch(0, func(seen int, _ agent.Event) bool {
			if seen == 2 {
				k.commit(&agent.DeleteThread{Thread: "t"})
			}
			return true
		})
		k.equal("events", len(events), 3)
		k.equal("the last one", events[2].Kind, agent.EventDeleted)
	}},

	{"a_watch_does_not_cross_into_another_incarnation", func(k *kit) {
		k.appendTo("t", messages("m", 0, 1)...)
		events := k.watch(0, func(seen int, _ agent.Event) bool {
			if seen == 1 {
				k.commit(&agent.DeleteThread{Thread: "t"}, &agent.AppendThread{Thread: "t", Entries: messages("n", 0, 5)})
			}
			return seen < 3
		})
		k.equal("events", len(events), 2)
		k.equal("the last one", events[1].Kind, agent.EventDeleted)
	}},

	{"a_watch_from_below_the_floor_ends", func(k *kit) {
		k.appendTo("t", messages("m", 0, 4)...)
		k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 2})
		events := k.watch(1, func(int, agent.Event) bool { return true })
		k.equal("events", len(events), 1)
		k.equal("the only one", []any{events[0].Kind, events[0].Floor}, []any{agent.EventCompacted, uint64(2)})
		k.watched(k.watch(2, until(2)), k.entries("t"))
	}},

	{"compaction_below_a_watch_does_not_end_it", func(k *kit) {
		k.appendTo("t", messages("m", 0, 3)...)
		events := k.watch(0, func(seen int, _ agent.Event) bool {
			if seen == 3 {
				k.commit(&agent.CompactThread{Thread: "t", BeforeSeq: 3})
				k.appendTo("t", messages("m", 3, 1)...)
			}
			return seen < 4
		})
		k.equal("the last entry", events[3].Entry.ID, "m3")
	}},

	{"a_watch_ends_with_its_context", func(k *kit) {
		k.appendTo("t", messages("m", 0, 1)...)
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		seen := 0
		for _, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Thread: "t"}) {
			if err == nil {
				seen++
			}
			cancel()
		}
		k.equal("entries", seen, 1)
	}},

	{"a_watch_of_no_thread_is_not_found", func(k *kit) {
		var last error
		for _, err := range k.service.Watch(k.ctx, agent.Watch{Scope: k.scope, Thread: "t"}) {
			last = err
		}
		k.failure(agent.CodeNotFound, last)
	}},

	{"a_watch_that_is_wrong_is_refused", func(k *kit) {
		var last error
		for _, err := range k.service.Watch(k.ctx, agent.Watch{Scope: k.scope}) {
			last = err
		}
		k.equal("field", k.failure(agent.CodeInvalid, last).Field, "thread")
	}},
}

// collect watches n entries; unlike watch it may run on any goroutine.
func (k *kit) collect(from uint64, n int) []agent.Event {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var events []agent.Event
	for event, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Thread: "t", From: from}) {
		if err != nil {
			k.Errorf("the watch failed after %d events: %v", len(events), err)
			return events
		}
		if events = append(events, event); len(events) == n {
			return events
		}
	}
	return events
}
