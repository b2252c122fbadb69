package client

import (
	"context"

	"dormouse/agent"
)

// PutTimer creates or replaces a timer of an instance. A timer that fires once has its
// time in Next, in Unix ms; a recurring one has Cron, and Next is 0. The returned timer
// has no Data.
func (s Timers) PutTimer(ctx context.Context, timer agent.Timer) (*agent.Timer, error) {
	r, err := do[*agent.TimerResult](ctx, s.target, &agent.PutTimer{Timer: timer})
	if err != nil {
		return nil, err
	}
	return &r.Timer, nil
}

// DeleteTimer cancels a timer; a missing timer is not an error.
func (s Timers) DeleteTimer(ctx context.Context, manager, key, id string) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &agent.DeleteTimer{Manager: manager, Key: key, ID: id})
}

// GetTimer reads a timer; not_found if it does not exist or has ended.
func (s Timers) GetTimer(ctx context.Context, manager, key, id string) (*agent.Timer, error) {
	return ask[*agent.Timer](ctx, s.target, &agent.GetTimer{Manager: manager, Key: key, ID: id})
}

// ListTimers lists an instance's timers, or those of all instances of a manager if key
// is "".
func (s Timers) ListTimers(ctx context.Context, manager, key string, page agent.Page) (*agent.TimerList, error) {
	return ask[*agent.TimerList](ctx, s.target, &agent.ListTimers{Manager: manager, Key: key, Page: page})
}
