package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// Watch runs "dormctl threads watch" or "dormctl watch" until it ends or its caller stops.
func (c *Ctl) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		read, write := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- c.follow(ctx, w, write)
			_ = write.Close() // never fails
		}()
		defer func() {
			cancel()
			_ = read.Close() // never fails
		}()
		documents := json.NewDecoder(read)
		for {
			var document json.RawMessage
			err := documents.Decode(&document)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				event, err := endOf(<-ended, err)
				yield(event, err)
				return
			}
			if event, err := httpclient.EventOf(map[bool]string{true: "change", false: "entry"}[w.Changes], "", string(document)); !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// follow runs the command of a watch to its end, and returns the error of its exit code.
func (c *Ctl) follow(ctx context.Context, w agent.Watch, to io.Writer) error {
	args, err := watchArgs(w)
	if err != nil {
		return err
	}
	args.text("output", "json")
	args.text("scope", w.Scope)
	stderr, code, err := c.Run(ctx, nil, to, args...)
	if err != nil {
		return agent.Errorf(agent.CodeUnavailable, "dormctl %s: %v", args[0], err)
	}
	return exited(code, stderr, false)
}

// watchArgs returns the command of a watch.
func watchArgs(w agent.Watch) (arguments, error) {
	switch {
	case w.Changes && w.Skip > 0:
		return arguments{"watch", w.Prefix, "--from", fmt.Sprintf("%d.%d", w.From, w.Skip-1)}, nil
	case w.Changes && w.From > 0:
		return arguments{"watch", w.Prefix, "--from", fmt.Sprint(w.From - 1)}, nil
	case w.Thread != "" && w.Incarnation == 0:
		return arguments{"threads", "watch", w.Thread, "--from", fmt.Sprint(w.From)}, nil
	default:
		return nil, agent.Errorf(agent.CodeInvalid, "dormctl is not used for this watch")
	}
}

// endOf returns the last event of a watch whose command ended with an error, or its error. broken is that of its output.
func endOf(exit, broken error) (agent.Event, error) {
	var refused *agent.Error
	switch {
	case exit == nil && errors.Is(broken, io.EOF):
		return agent.Event{}, agent.Errorf(agent.CodeInternal, "dormctl ended its watch with exit code 0")
	case exit == nil:
		return agent.Event{}, agent.Errorf(agent.CodeInternal, "dormctl wrote what is no document: %v", broken)
	case errors.As(exit, &refused) && refused.Code == agent.CodeCompacted:
		return agent.Event{Kind: agent.EventCompacted, Floor: refused.Floor}, nil
	default:
		return agent.Event{}, exit
	}
}
