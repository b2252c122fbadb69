package jepsen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"dormouse/agent"
	"dormouse/client"
)

// stateOf returns a hash of everything that a node serves from its own state, without
// asking other nodes: every scope, value, checkpoint with its history, thread and
// entry. Equal states have equal hashes.
func (r *run) stateOf(ctx context.Context, n node) (string, error) {
	c, err := r.stage.dial("", false, n.grpc)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // no call is in progress
	w := &walker{client: c, sum: sha256.New()}
	if err := w.scopes(ctx); err != nil {
		return "", fmt.Errorf("read all that %s serves: %w", n.name, err)
	}
	return hex.EncodeToString(w.sum.Sum(nil)), nil
}

// walker reads and hashes the whole state of a node.
type walker struct {
	client *client.Client
	sum    hash.Hash
}

const (
	pageRows    = 500
	pageEntries = 2000
)

// read makes one stale read, which the node answers from its own state.
func read[T agent.Found](ctx context.Context, w *walker, scope string, what agent.Read) (found T, err error) {
	answers, err := w.client.Read(ctx, agent.Reads{Scope: scope, Stale: true, Reads: []agent.Read{what}})
	if err != nil {
		return found, err
	}
	if e := answers.Answers[0].Err; e != nil {
		return found, e
	}
	found, ok := answers.Answers[0].Found.(T)
	if !ok {
		return found, fmt.Errorf("%T was answered with %T", what, answers.Answers[0].Found)
	}
	return found, nil
}

// add adds a value to the hash.
func (w *walker) add(what any) error { return json.NewEncoder(w.sum).Encode(what) }

func (w *walker) scopes(ctx context.Context) error {
	for after := ""; ; {
		list, err := read[*agent.ScopeList](ctx, w, "", &agent.ListScopes{Page: agent.Page{After: after, Limit: pageRows}})
		if err != nil {
			return err
		}
		for _, s := range list.Items {
			if err := w.add(s); err != nil {
				return err
			}
			for _, walk := range []func(context.Context, string) error{w.values, w.checkpoints, w.threads} {
				if err := walk(ctx, s.Name); err != nil {
					return err
				}
			}
		}
		if after = list.Next; after == "" {
			return nil
		}
	}
}

func (w *walker) values(ctx context.Context, scope string) error {
	for after := ""; ; {
		list, err := read[*agent.ValueList](ctx, w, scope, &agent.ListValues{Page: agent.Page{After: after, Limit: pageRows}})
		if err != nil {
			return err
		}
		for _, row := range list.Items {
			value, err := read[*agent.Value](ctx, w, scope, &agent.GetValue{Key: row.Key})
			if err != nil {
				return err
			}
			if err := w.add(value); err != nil {
				return err
			}
		}
		if after = list.Next; after == "" {
			return nil
		}
	}
}

func (w *walker) checkpoints(ctx context.Context, scope string) error {
	for after := ""; ; {
		list, err := read[*agent.CheckpointList](ctx, w, scope, &agent.ListCheckpoints{Page: agent.Page{After: after, Limit: pageRows}})
		if err != nil {
			return err
		}
		for _, row := range list.Items {
			if err := w.checkpoint(ctx, scope, row.Key); err != nil {
				return err
			}
		}
		if after = list.Next; after == "" {
			return nil
		}
	}
}

func (w *walker) checkpoint(ctx context.Context, scope, key string) error {
	now, err := read[*agent.Checkpoint](ctx, w, scope, &agent.GetCheckpoint{Key: key})
	if err != nil {
		return err
	}
	kept, err := read[*agent.CheckpointList](ctx, w, scope, &agent.CheckpointHistory{Key: key})
	if err != nil {
		return err
	}
	if err := w.add(now); err != nil {
		return err
	}
	return w.add(kept)
}

func (w *walker) threads(ctx context.Context, scope string) error {
	for after := ""; ; {
		list, err := read[*agent.ThreadList](ctx, w, scope, &agent.ListThreads{Page: agent.Page{After: after, Limit: pageRows}})
		if err != nil {
			return err
		}
		for _, t := range list.Items {
			if err := w.entries(ctx, scope, t); err != nil {
				return err
			}
		}
		if after = list.Next; after == "" {
			return nil
		}
	}
}

func (w *walker) entries(ctx context.Context, scope string, t agent.Thread) error {
	if err := w.add(t); err != nil {
		return err
	}
	for from := uint64(0); ; {
		page, err := read[*agent.Entries](ctx, w, scope, &agent.LoadEntries{Thread: t.ID, From: from, Limit: pageEntries})
		if err != nil {
			return err
		}
		if err := w.add(page.Items); err != nil {
			return err
		}
		if page.Next == nil {
			return nil
		}
		from = *page.Next
	}
}
