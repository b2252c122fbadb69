// Package redisclient calls a cluster over the protocol of Redis, with go-redis as any program would. It is
// written from docs/redis.md.
package redisclient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// Options are the options of a client.
type Options struct {
	Addresses func() []string // of the nodes that a call may use, at least one
	Token     string
	Scope     string // the scope of all keys: redis.scope of the nodes
	Retries   bool   // try another node if a command was not applied
	Protocol  int    // 2 or 3
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client is an agent.Service for commits and reads of values. Results have no index, revision or time, which
// the protocol does not have. All methods may be called concurrently.
type Client struct {
	o Options

	mu    sync.Mutex
	nodes map[string]*redis.Client // guarded by mu; :: address → its client
	at    int                      // guarded by mu; place of the address that answered last
}

var _ agent.Service = (*Client)(nil)

// swap is the compare-and-set of Jido.Persistence.Redis, the only script that a node knows.
var swap = redis.NewScript(`
local current = redis.call('GET', KEYS[1])
if ARGV[1] == 'missing' then
  if current then return 0 end
elseif current ~= ARGV[2] then
  return 0
end
if ARGV[4] == '' then
  redis.call('SET', KEYS[1], ARGV[3])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
return 1`)

// New returns a client. It silences the log that go-redis writes to standard error in the whole
// process: faults end connections all the time.
func New(o Options) *Client {
	logging.Disable()
	return &Client{o: o, nodes: map[string]*redis.Client{}}
}

// Close closes all connections.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, node := range c.nodes {
		all = append(all, node.Close())
	}
	return errors.Join(all...)
}

const (
	restFor = 100 * time.Millisecond // between two attempts
	dialMax = time.Second
)

// node returns the client of a node. go-redis repeats no command by itself: the outcome of each is known.
func (c *Client) node(addr string) *redis.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.nodes[addr]
	if one == nil {
		one = redis.NewClient(&redis.Options{
			Addr: addr, Password: c.o.Token, Protocol: c.o.Protocol, Dialer: c.o.Dial, DialTimeout: dialMax, MaxRetries: -1,
			ContextTimeoutEnabled: true, PoolSize: 2, DialerRetries: 1,
		})
		c.nodes[addr] = one
	}
	return one
}

// call makes attempts until one decides the call. A write is tried again, on the next node, only if it was not
// applied.
func (c *Client) call(ctx context.Context, effect bool, do func(context.Context, *redis.Client) error) error {
	c.mu.Lock()
	at := c.at
	c.mu.Unlock()
	for n := 0; ; n++ {
		all := c.o.Addresses()
		place := (at + n) % len(all)
		err := told(do(ctx, c.node(all[place])))
		switch code := agent.CodeOf(err); {
		case err == nil:
			c.mu.Lock()
			c.at = place
			c.mu.Unlock()
			return nil
		case code == agent.CodeUnknown && !effect:
			err = agent.Errorf(agent.CodeUnavailable, "%v", err)
		case code != agent.CodeUnavailable:
			return err
		}
		if !c.o.Retries || !pause.For(ctx, restFor) {
			return err
		}
	}
}

// told returns what an error of go-redis says about a command.
func told(err error) error {
	var mine *agent.Error
	var reply redis.Error
	var op *net.OpError
	switch {
	case err == nil || errors.As(err, &mine):
		return err
	case errors.As(err, &reply):
		return toldBy(reply.Error())
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return agent.Errorf(agent.CodeUnavailable, "no connection: %v", err)
	default:
		return agent.Errorf(agent.CodeUnknown, "no reply: %v", err)
	}
}

// toldBy returns the error that a reply is.
func toldBy(reply string) error {
	kind, rest, _ := strings.Cut(reply, " ")
	switch kind {
	case "TRYAGAIN":
		return agent.Errorf(agent.CodeUnavailable, "%s", rest)
	case "NOAUTH", "WRONGPASS":
		return agent.Errorf(agent.CodeUnauthenticated, "%s", rest)
	case "NOPERM":
		return agent.Errorf(agent.CodeForbidden, "%s", rest)
	case "EXECABORT":
		return agent.Errorf(agent.CodeConflict, "%s", rest)
	}
	code, detail, coded := strings.Cut(rest, ": ")
	if kind == "ERR" && coded && !strings.ContainsAny(code, " '") {
		return agent.Errorf(agent.Code(code), "%s", detail)
	}
	return agent.Errorf(agent.CodeInvalid, "%s", reply)
}

// Commit makes a command of one op, and a transaction of several.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if commit.Scope != c.o.Scope || commit.Fence != nil || commit.Request != (agent.Request{}) {
		return agent.Result{}, agent.Errorf(agent.CodeInvalid, "the protocol of Redis has one scope, here %s, and no fence or request id", c.o.Scope)
	}
	results := make([]agent.OpResult, len(commit.Ops))
	err := c.call(ctx, true, func(ctx context.Context, node *redis.Client) error {
		if len(commit.Ops) == 1 {
			var err error
			results[0], err = one(ctx, node, commit.Ops[0])
			return err
		}
		_, err := node.TxPipelined(ctx, func(tx redis.Pipeliner) error {
			for i, op := range commit.Ops {
				if err := queue(ctx, tx, op); err != nil {
					return err
				}
				results[i] = resultOf(op)
			}
			return nil
		})
		return err
	})
	return agent.Result{Results: results}, err
}

// resultOf returns what is known of an op that was applied.
func resultOf(op agent.Op) agent.OpResult {
	if put, is := op.(*agent.PutValue); is {
		return &agent.ValueResult{Key: put.Key}
	}
	return &agent.DeleteResult{}
}

// one makes the command of one op.
func one(ctx context.Context, node *redis.Client, op agent.Op) (agent.OpResult, error) {
	switch op := op.(type) {
	case *agent.PutValue:
		return resultOf(op), put(ctx, node, op)
	case *agent.DeleteValue:
		n, err := node.Del(ctx, op.Key).Result()
		return &agent.DeleteResult{Existed: n > 0}, err
	default:
		return nil, agent.Errorf(agent.CodeInvalid, "the protocol of Redis has no %T", op)
	}
}

func put(ctx context.Context, node *redis.Client, op *agent.PutValue) error {
	switch {
	case op.IfBytes != nil && *op.IfBytes != nil:
		did, err := swap.Run(ctx, node, []string{op.Key}, "value", *op.IfBytes, op.Bytes, "").Int()
		if err == nil && did == 0 { // also if the cluster was unavailable
			return agent.Errorf(agent.CodeConflict, "not applied: the bytes differ, or the cluster could not serve it")
		}
		return err
	case op.IfRevision != nil && *op.IfRevision == 0:
		err := node.SetArgs(ctx, op.Key, op.Bytes, redis.SetArgs{Mode: "NX"}).Err()
		if errors.Is(err, redis.Nil) {
			return agent.Errorf(agent.CodeRevisionMismatch, "the key exists")
		}
		return err
	case op.IfRevision != nil || op.IfBytes != nil:
		return agent.Errorf(agent.CodeInvalid, "the protocol of Redis has no such condition")
	default:
		return node.Set(ctx, op.Key, op.Bytes, op.TTL).Err()
	}
}

// queue adds the command of an op to a transaction.
func queue(ctx context.Context, tx redis.Pipeliner, op agent.Op) error {
	switch op := op.(type) {
	case *agent.PutValue:
		if op.IfBytes != nil || op.IfRevision != nil {
			return agent.Errorf(agent.CodeInvalid, "a transaction has no conditions")
		}
		tx.Set(ctx, op.Key, op.Bytes, op.TTL)
	case *agent.DeleteValue:
		tx.Del(ctx, op.Key)
	default:
		return agent.Errorf(agent.CodeInvalid, "the protocol of Redis has no %T", op)
	}
	return nil
}

// Read reads values at one index, which is not told.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	keys := make([]string, len(r.Reads))
	for i, read := range r.Reads {
		get, is := read.(*agent.GetValue)
		if !is || r.Stale || r.Scope != c.o.Scope {
			return agent.Answers{}, agent.Errorf(agent.CodeInvalid, "the protocol of Redis reads values of scope %s only", c.o.Scope)
		}
		keys[i] = get.Key
	}
	answers := make([]agent.Answer, len(keys))
	err := c.call(ctx, false, func(ctx context.Context, node *redis.Client) error {
		values, err := node.MGet(ctx, keys...).Result()
		if err != nil {
			return err
		}
		if len(values) != len(keys) {
			return agent.Errorf(agent.CodeInternal, "%d keys have %d values", len(keys), len(values))
		}
		for i, value := range values {
			switch value := value.(type) {
			case nil:
				answers[i] = agent.Answer{Err: &agent.Error{Code: agent.CodeNotFound, Op: -1, Detail: fmt.Sprintf("there is no value %q", keys[i])}}
			case string:
				answers[i] = agent.Answer{Found: &agent.Value{Key: keys[i], Bytes: []byte(value)}}
			default:
				return agent.Errorf(agent.CodeInternal, "a value is a %T", value)
			}
		}
		return nil
	})
	return agent.Answers{Answers: answers}, err
}

// Watch is refused: the protocol has no watches.
func (*Client) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		yield(agent.Event{}, agent.Errorf(agent.CodeInvalid, "the protocol of Redis has no watches here"))
	}
}
