package valkeyrie

import (
	"context"
	"errors"
	"strings"

	"github.com/kvtools/valkeyrie/store"

	"dormouse/sdk/go/agent"
)

// readBytesMax is how many bytes of values one request of List asks for. A single value
// may be larger.
const readBytesMax = 8 << 20

// List returns the pairs below a directory in key order. It returns
// store.ErrKeyNotFound if there is neither one nor the directory itself.
func (s *Store) List(ctx context.Context, directory string, _ *store.ReadOptions) ([]*store.KVPair, error) {
	pairs, _, err := s.list(ctx, directory)
	if err != nil || len(pairs) > 0 {
		return pairs, err
	}
	for _, key := range []string{strings.TrimSuffix(directory, "/"), below(directory)} {
		if name(key) == "" {
			continue
		}
		if exists, err := s.Exists(ctx, key, nil); err != nil || exists {
			return pairs, err
		}
	}
	return nil, store.ErrKeyNotFound
}

// DeleteTree deletes the keys below a directory, but not the directory itself. It
// returns store.ErrKeyNotFound if there is none. Up to agent.CommitOpsMax keys are
// deleted in one commit; a larger tree takes several.
func (s *Store) DeleteTree(ctx context.Context, directory string) error {
	rows, _, err := s.rows(ctx, directory)
	if err != nil {
		return err
	}
	existed := false
	for len(rows) > 0 {
		n := min(len(rows), agent.CommitOpsMax)
		ops := make([]agent.Op, n)
		for i, row := range rows[:n] {
			ops[i] = &agent.DeleteValue{Key: row.Key}
		}
		result, err := s.client.Apply(ctx, ops...)
		if err != nil {
			return outward(err)
		}
		for _, r := range result.Results {
			existed = existed || r.(*agent.DeleteResult).Existed
		}
		rows = rows[n:]
	}
	if !existed {
		return store.ErrKeyNotFound
	}
	return nil
}

// below returns the prefix of the keys below a directory.
func below(directory string) string {
	if directory = strings.TrimSuffix(name(directory), "/"); directory == "" {
		return ""
	}
	return directory + "/"
}

// list returns the pairs below a directory, and an index that they are no older than.
func (s *Store) list(ctx context.Context, directory string) ([]*store.KVPair, uint64, error) {
	rows, index, err := s.rows(ctx, directory)
	if err != nil {
		return nil, 0, err
	}
	pairs := make([]*store.KVPair, 0, len(rows))
	for len(rows) > 0 {
		r := agent.Reads{MinIndex: index}
		for size := uint64(0); len(rows) > 0 && len(r.Reads) < agent.ReadsMax && (size == 0 || size+rows[0].Size <= readBytesMax); rows = rows[1:] {
			size += rows[0].Size
			r.Reads = append(r.Reads, &agent.GetValue{Key: rows[0].Key})
		}
		answers, err := s.client.Read(ctx, r)
		if err != nil {
			return nil, 0, outward(err)
		}
		for _, a := range answers.Answers {
			switch {
			case a.Err == nil:
				pairs = append(pairs, pairOf(a.Found.(*agent.Value)))
			case a.Err.Code != agent.CodeNotFound: // a key that was deleted since is left out
				return nil, 0, outward(a.Err)
			}
		}
	}
	return pairs, index, nil
}

// rows returns the keys below a directory, and the index of the first page.
func (s *Store) rows(ctx context.Context, directory string) (rows []agent.ValueRow, index uint64, err error) {
	page := agent.Page{Prefix: below(directory), Limit: agent.ListLimitMax}
	for {
		answers, err := s.client.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.ListValues{Page: page}}})
		if err != nil {
			return nil, 0, outward(err)
		}
		if failed := answers.Answers[0].Err; failed != nil {
			return nil, 0, outward(failed)
		}
		if index == 0 {
			index = answers.Index
		}
		found := answers.Answers[0].Found.(*agent.ValueList)
		for _, row := range found.Items {
			if row.Key != page.Prefix { // the directory itself, written with its slash
				rows = append(rows, row)
			}
		}
		if found.Next == "" {
			return rows, index, nil
		}
		page.After = found.Next
	}
}

// isNotFound reports whether a read found nothing.
func isNotFound(err error) bool {
	return agent.CodeOf(err) == agent.CodeNotFound || errors.Is(err, store.ErrKeyNotFound)
}
