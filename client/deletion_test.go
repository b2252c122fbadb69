package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
)

func TestTheReceiptOfADeletionThatIsNeverCompleteComesWithTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{
			submit: func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
				done(agent.Result{Index: 7, Results: []agent.OpResult{&agent.PrefixDeletion{ID: "d", Index: 7}}}, nil)
			},
			read: func(context.Context, agent.Reads) (agent.Answers, error) {
				return agent.Answers{Index: 8, Answers: []agent.Answer{{Found: &agent.PrefixDeletion{ID: "d", Index: 7, Removed: 1}}}}, nil
			},
		}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		receipt, err := c.DeletePrefix(ctx, agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"})
		if agent.CodeOf(err) != agent.CodeUnavailable || receipt == nil || receipt.ID != "d" || receipt.Removed != 1 || receipt.Complete() {
			t.Errorf("%+v, %v", receipt, err)
		}
	})
}

// A deletion by prefix on a real node.
func TestAPrefixIsDeleted(t *testing.T) {
	c := nodetest.Start(t)
	if _, err := c.Apply(t.Context(), &agent.PutValue{Key: "x/1"}, &agent.PutValue{Key: "x/2"}, &agent.PutValue{Key: "y"}); err != nil {
		t.Fatal(err)
	}
	d, err := c.DeletePrefix(t.Context(), agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x/"})
	if err != nil || !d.Complete() || d.Removed != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := c.DeletePrefix(t.Context(), agent.DeletePrefix{Kind: agent.ChangedValue}); agent.CodeOf(err) != agent.CodeInvalid {
		t.Errorf("without a prefix: %v", err)
	}
	if again, err := c.GetDeletion(t.Context(), d.ID); err != nil || *again != *d {
		t.Errorf("the receipt again: %+v, %v", again, err)
	}
	if all, err := c.ListDeletions(t.Context(), agent.Page{}); err != nil || len(all.Items) != 1 || all.Items[0] != *d {
		t.Errorf("all receipts: %+v, %v", all, err)
	}
	if values, err := c.ListValues(t.Context(), agent.Page{}); err != nil || len(values.Items) != 1 {
		t.Errorf("left: %+v, %v", values, err)
	}
}
