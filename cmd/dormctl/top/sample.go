package top

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
)

// sample is the state of the cluster at one time.
type sample struct {
	At        time.Time
	status    layout.ClusterStatus
	Placement layout.Placement
	Stats     agent.ManagerStats // of all managers of all scopes
}

// look asks for all that top shows of nodes but the number of stored instances. Without
// placement it does not ask for the Placement.
func look(ctx context.Context, a *kit.App, s kit.Store, placement bool) (*sample, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	var out sample
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { out.status, err = s.Status(ctx); return err })
	if placement {
		g.Go(func() (err error) { out.Placement, err = s.Placement(ctx, layout.PlacementQuery{}); return err })
	}
	g.Go(func() (err error) { out.Stats, err = s.Instances().Stats(ctx, "", ""); return err })
	err := g.Wait()
	out.At = time.Now()
	return &out, err
}

// storedPrefix is the prefix of the keys of instances' checkpoints.
const storedPrefix = "instances/"

// countStored returns the number of stored instances in all scopes.
func countStored(ctx context.Context, s kit.Store) (count int, err error) {
	err = eachScope(ctx, s, func(scope *agent.Scope) (bool, error) {
		prefixed := func(page agent.Page) agent.Read {
			page.Prefix = storedPrefix
			return &agent.ListCheckpoints{Page: page}
		}
		return true, eachPage(ctx, s, scope.Name, prefixed, func(list *agent.CheckpointList) (string, error) {
			count += len(list.Items)
			return list.Next, nil
		})
	})
	return count, err
}

// eachScope calls see with each scope, until see returns false or an error.
func eachScope(ctx context.Context, s kit.Store, see func(*agent.Scope) (more bool, err error)) error {
	return eachPage(ctx, s, "", func(page agent.Page) agent.Read { return &agent.ListScopes{Page: page} }, func(scopes *agent.ScopeList) (string, error) {
		for i := range scopes.Items {
			if more, err := see(&scopes.Items[i]); err != nil || !more {
				return "", err
			}
		}
		return scopes.Next, nil
	})
}

// eachPage reads the pages of a list, with stale reads, and calls see with each page, until see
// returns no next page.
func eachPage[T agent.Found](ctx context.Context, s kit.Store, scope string, read func(agent.Page) agent.Read, see func(T) (next string, err error)) error {
	page := agent.Page{Limit: agent.ListLimitMax}
	for {
		answers, err := s.Read(ctx, agent.Reads{Scope: scope, Stale: true, Reads: []agent.Read{read(page)}})
		if err != nil {
			return err
		}
		if len(answers.Answers) != 1 {
			return errors.New("one read does not have one answer: does the node run another version?")
		}
		list, err := kit.FoundIn[T](answers, 0)
		if err != nil {
			return err
		}
		if page.After, err = see(list); err != nil || page.After == "" {
			return err
		}
	}
}
