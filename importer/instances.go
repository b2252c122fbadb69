package importer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// InstancesManager is the manager of the instances that ImportInstances makes.
const InstancesManager = "conversations"

// InstanceOptions configure ImportInstances.
type InstanceOptions struct {
	Options
	Idle time.Duration // idle timeout of the instances; users pause twice as long between turns; 0 means 500 ms
}

const (
	idleDefault   = 500 * time.Millisecond
	attachmentTTL = 30 * time.Second // of a user's attachment
	followUpDelay = time.Second      // after the last message
	followUpPoll  = 200 * time.Millisecond
	followUpID    = "follow-up"
)

// ImportInstances makes a live instance of each conversation. It sends each
// message as a signal, and keeps the instance attached during a turn. Between
// turns it waits until the instance hibernates. At the end a timer wakes the
// instance once more. It compares messages that are stored already, and does
// not change instances that differ.
func ImportInstances(ctx context.Context, s agent.Service, at agent.Instances, list []Conversation, o InstanceOptions) (Summary, error) {
	o.Options = o.withDefaults()
	if o.Idle == 0 {
		o.Idle = idleDefault
	}
	if err := CheckCopies(list, o.Copies); err != nil {
		return Summary{}, err
	}
	began := time.Now()
	var counted counters
	var total totals
	err := newRetryClient(s, o.Scope, o.GiveUp, &counted).commit(ctx, &agent.PutManager{Manager: agent.Manager{
		Name: InstancesManager, Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: o.Idle,
	}})
	if err != nil {
		return Summary{}, fmt.Errorf("put manager %s: %w", InstancesManager, err)
	}
	var limiter *rate.Limiter
	if o.Rate > 0 {
		limiter = rate.NewLimiter(rate.Limit(o.Rate), 1)
	}
	err = forEachCopy(ctx, list, o.Options, func(ctx context.Context, jobs <-chan job) error {
		u := &user{client: newRetryClient(s, o.Scope, o.GiveUp, &counted), instances: at, idle: o.Idle, limiter: limiter, progress: o.Progress, total: &total}
		for j := range jobs {
			if err := u.importConversation(ctx, j); err != nil {
				return fmt.Errorf("instance %s (line %d): %w", j.name, j.conversation.Line, err)
			}
		}
		return nil
	})
	return Summary{
		Conversations: int(total.conversations.Load()), Messages: int(total.messages.Load()), Already: int(total.already.Load()),
		Retries: counted.retries.Load(), Elapsed: time.Since(began), Differences: total.differences,
	}, err
}

// user imports one conversation at a time. It belongs to one goroutine.
type user struct {
	client    *retryClient
	instances agent.Instances
	idle      time.Duration
	limiter   *rate.Limiter // nil means no limit
	progress  func(int)
	total     *totals
}

func (s *retryClient) ref(j job) agent.InstanceRef {
	return agent.InstanceRef{Scope: s.scope, Manager: InstancesManager, Key: j.name}
}

// importConversation imports one conversation from the end of its thread on.
func (u *user) importConversation(ctx context.Context, j job) error {
	stored, err := loadStored(ctx, u.client, u.client.ref(j).Checkpoint())
	if err != nil {
		return err
	}
	rev, messages := len(stored.entries), len(j.conversation.Messages)
	var d Differences
	stored.compareMessages(&d, j)
	if d.Count > 0 {
		u.total.mu.Lock()
		u.total.differences.join(d)
		u.total.mu.Unlock()
		return nil
	}
	u.total.already.Add(int64(min(rev, messages)))
	u.progress(min(rev, messages))
	as, err := u.clientOf(ctx, j)
	if err != nil {
		return err
	}
	for _, turn := range j.conversation.turnSpans() {
		if turn.to <= rev {
			continue
		}
		if err := u.turn(ctx, j, as, max(turn.from, rev), turn.to); err != nil {
			return err
		}
		if !pause.For(ctx, 2*u.idle) { // the instance hibernates meanwhile
			return context.Cause(ctx)
		}
	}
	if rev <= messages {
		if err := u.followUp(ctx, j, uint64(messages)+1); err != nil {
			return fmt.Errorf("the timer: %w", err)
		}
	}
	u.total.conversations.Add(1)
	return nil
}

// clientOf returns the client of the signals' request ids, which are the same in
// all imports of a conversation. The manager's incarnation and an erasure of the
// instance are parts of it, because the cluster still knows the answers to the
// signals from before the deletion of the scope or of the instance.
func (u *user) clientOf(ctx context.Context, j job) (string, error) {
	name := u.client.ref(j).Checkpoint()
	answers, err := u.client.read(ctx, &agent.GetManager{Name: InstancesManager}, &agent.GetErasure{Agent: name})
	if err != nil {
		return "", err
	}
	manager, err := foundIn[*agent.Manager](answers, 0)
	if err != nil {
		return "", err
	}
	var since uint64 // the index of the erasure
	switch erased, err := foundIn[*agent.Erasure](answers, 1); {
	case err == nil:
		since = erased.Index
	case !errors.Is(err, agent.ErrNotFound):
		return "", err
	}
	return fmt.Sprintf("%s%d/%d/%s", agent.ImportClient, manager.Incarnation, since, name), nil
}

// turn sends the messages of one turn while attached, as a client. An attachment
// ends with its node; the next turn attaches again.
func (u *user) turn(ctx context.Context, j job, as string, from, to int) error {
	ref := u.client.ref(j)
	attach := agent.Attach{Attachment: "user", TTL: attachmentTTL}
	err := u.client.retry(ctx, func(ctx context.Context) error { _, err := u.instances.Attach(ctx, ref, attach); return err })
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	for i := from; i < to; i++ {
		if u.limiter != nil {
			if err := u.limiter.Wait(ctx); err != nil {
				return err
			}
		}
		signal := messageSignal(as, j, i)
		err = u.client.retry(ctx, func(ctx context.Context) error { _, err := u.instances.Signal(ctx, ref, signal); return err })
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		u.total.messages.Add(1)
		u.progress(1)
	}
	return u.client.retry(ctx, func(ctx context.Context) error { return u.instances.Detach(ctx, ref, attach.Attachment) })
}

// messageSignal returns the signal of a message from a client. Repeats have the
// same request id.
func messageSignal(client string, j job, i int) agent.Signal {
	m := j.conversation.Messages[i]
	return agent.Signal{
		Type: "turn", Request: agent.Request{Client: client, Seq: uint64(i + 1)},
		Data: fmt.Appendf(nil, `{"entries":{"id":"message-%d","kind":%q,"payload":%s},"patch":{"messages":%d}}`, i, m.Kind, m.Payload, i+1),
	}
}

// followUp sets the timer, unless an earlier import did, and waits until it has
// fired.
func (u *user) followUp(ctx context.Context, j job, rev uint64) error {
	ref := u.client.ref(j)
	answers, err := u.client.read(ctx, &agent.GetTimer{Manager: ref.Manager, Key: ref.Key, ID: followUpID}, &agent.GetThread{Thread: ref.Checkpoint()})
	if err != nil {
		return err
	}
	thread, err := foundIn[*agent.Thread](answers, 1)
	if err != nil {
		return err
	}
	switch _, err = foundIn[*agent.Timer](answers, 0); {
	case !errors.Is(err, agent.ErrNotFound):
	case thread.Rev >= rev: // it has fired
		err = nil
	default:
		err = u.client.commit(ctx, &agent.PutTimer{Timer: agent.Timer{
			Manager: ref.Manager, Key: ref.Key, ID: followUpID, Next: time.Now().Add(followUpDelay).UnixMilli(), Data: agent.JSON(`{"follow_up":true}`),
		}})
	}
	for last := time.Now().Add(u.client.giveUp); err == nil && thread.Rev < rev; {
		switch {
		case time.Now().After(last):
			return agent.Errorf(agent.CodeUnavailable, "the timer has not fired for %v", u.client.giveUp)
		case !pause.For(ctx, followUpPoll):
			return context.Cause(ctx)
		}
		if answers, err = u.client.read(ctx, &agent.GetThread{Thread: ref.Checkpoint()}); err == nil {
			thread, err = foundIn[*agent.Thread](answers, 0)
		}
	}
	return err
}
