package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

func TestPagesOfTwoIncarnationsOfAThreadAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		next, life := uint64(1), uint64(6)
		f := &fake{read: func(context.Context, agent.Reads) (agent.Answers, error) {
			life++ // created again before each page
			page := &agent.Entries{
				Thread: agent.Thread{ID: "t", Incarnation: life, Rev: 2}, Items: []agent.Entry{{ID: "e", Kind: agent.KindMessage}},
			}
			if life < 9 {
				page.Next = &next
			}
			return agent.Answers{Index: 1, Answers: []agent.Answer{{Found: page}}}, nil
		}}
		w.serve("a:1", f, f)
		c := w.client(client.Options{Endpoints: []string{"a:1"}})
		entries := 0
		var last error
		for _, err := range c.Entries(within(t, time.Second), agent.LoadEntries{Thread: "t"}) {
			if last = err; err == nil {
				entries++
			}
		}
		if entries != 1 || agent.CodeOf(last) != agent.CodeDeleted {
			t.Errorf("%d entries, then %v", entries, last)
		}
	})
}
