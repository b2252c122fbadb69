// Package leading runs work while this node leads.
package leading

import "context"

// Leader reports whether this node leads.
type Leader interface {
	IsLeader() bool
	LeaderChanged() <-chan struct{} // closed at the next change; take it before asking
}

// Run calls work each time this node begins to lead, until ctx ends. The context of
// work ends when the node no longer leads; work must return then.
func Run(ctx context.Context, leader Leader, work func(ctx context.Context)) {
	for ctx.Err() == nil {
		changed := leader.LeaderChanged()
		if leader.IsLeader() {
			once(ctx, leader, work)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// once runs work while this node leads.
func once(ctx context.Context, leader Leader, work func(ctx context.Context)) {
	ctx, end := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer end()
		for {
			changed := leader.LeaderChanged()
			if !leader.IsLeader() {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	work(ctx)
	end()
	<-watched
}
