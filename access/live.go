package access

import (
	"context"
	"iter"
	"time"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// liveEvery is the interval at which a watch without events checks the credentials of its caller.
const liveEvery = 15 * time.Second

// live returns an error if p's token was revoked or has expired, or its other credentials.
func live(tokens Tokens, p *Principal) error {
	if err := p.current(); err != nil {
		return err
	}
	if p.TokenID == "" || tokens.Live(p.TokenID) || seededbug.Is(seededbug.RevokedTokenReads) {
		return nil
	}
	return agent.Errorf(agent.CodeUnauthenticated, "token %s was revoked or has expired: use another", p.TokenID)
}

// failed is a watch that ends with err at once.
func failed[E any](err error) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		yield(none, err)
	}
}

// whileLive yields the events of a watch until the credentials of p are not valid any more. It then ends
// the watch, and yields the error last.
func whileLive[E any](ctx context.Context, tokens Tokens, p *Principal, watch func(context.Context) iter.Seq2[E, error]) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		go endUnlessLive(ctx, end, tokens, p)
		for event, err := range watch(ctx) {
			if live(tokens, p) != nil {
				break
			}
			if !yield(event, err) {
				return
			}
		}
		if err := live(tokens, p); err != nil {
			var none E
			yield(none, err)
		}
	}
}

// endUnlessLive calls end once the credentials of p are not valid any more. It returns when ctx ends.
func endUnlessLive(ctx context.Context, end func(), tokens Tokens, p *Principal) {
	for {
		wait := liveEvery
		if left := time.Until(p.Until); left > 0 { // false if Until is zero
			wait = min(wait, left)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if live(tokens, p) != nil {
			end()
			return
		}
	}
}
