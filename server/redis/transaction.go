package redis

import (
	"context"
	"time"

	"dormouse/agent"
)

// transaction is what a connection has queued since MULTI.
type transaction struct {
	queued  []queued
	size    int64     // of the commands
	counted int64     // bytes that are counted as in flight
	grew    time.Time // when it reached countedLeast bytes, for multiTimeout; zero before
	broken  bool      // a command was refused: EXEC fails
}

// queued is a command of a transaction: a step, or a command that touches no values.
type queued struct {
	step *step
	spec *spec
	args [][]byte
}

// enqueue adds a command to the transaction, which keeps what the command counts.
func (c *conn) enqueue(cmd *command, spec *spec) {
	t := c.queue
	if spec.alone {
		c.fail(failuref("ERR %s is not allowed in transactions", cmd.args[0]))
		return
	}
	if len(t.queued) == queueMax {
		c.fail(agent.TooLarge("transaction", "redis_transaction_commands_max", len(t.queued)+1, queueMax))
		return
	}
	if t.size+cmd.size > commandBytesMax {
		c.fail(agent.TooLarge("transaction", "redis_command_bytes_max", int(t.size+cmd.size), commandBytesMax))
		return
	}
	if more := cmd.size - cmd.counted; !c.server.o.Bytes.Try(c.caller, more) { // small ones are not counted yet
		c.fail(overloaded())
		return
	}
	cmd.counted = cmd.size
	item := queued{spec: spec, args: cmd.args}
	if spec.parse != nil {
		var err error
		if item.step, err = spec.parse(c, cmd.args); err != nil {
			c.fail(err)
			return
		}
	}
	t.queued = append(t.queued, item)
	t.size += cmd.size
	t.counted += cmd.counted
	cmd.counted = 0
	if t.grew.IsZero() && t.counted >= countedLeast {
		t.grew = time.Now()
	}
	c.replies.value(statusQueued)
}

// discard ends the transaction and gives back what it counts.
func (c *conn) discard() {
	if c.queue == nil {
		return
	}
	c.server.o.Bytes.Give(c.caller, c.queue.counted)
	c.queue = nil
}

func runMulti(_ context.Context, c *conn, _ [][]byte) {
	if c.queue != nil {
		c.replies.value(failure("ERR MULTI calls can not be nested"))
		return
	}
	c.queue = &transaction{}
	c.replies.value(statusOK)
}

func runDiscard(_ context.Context, c *conn, _ [][]byte) {
	if c.queue == nil {
		c.replies.value(failure("ERR DISCARD without MULTI"))
		return
	}
	c.discard()
	c.replies.value(statusOK)
}

// runExec makes all steps of the transaction as one commit, or as one read if none writes.
func runExec(ctx context.Context, c *conn, _ [][]byte) {
	t := c.queue
	if t == nil {
		c.replies.value(failure("ERR EXEC without MULTI"))
		return
	}
	defer c.discard()
	if t.broken {
		c.replies.value(errAborted)
		return
	}
	var steps []*step
	for _, q := range t.queued {
		if q.step != nil {
			steps = append(steps, q.step)
		}
	}
	var made []any
	if len(steps) > 0 {
		var err error
		if made, err = c.execute(ctx, steps); err != nil {
			c.replies.value(err)
			return
		}
	}
	c.replies.array(len(t.queued))
	for _, q := range t.queued {
		if q.step == nil {
			q.spec.run(ctx, c, q.args)
			continue
		}
		c.replies.value(made[0])
		made = made[1:]
	}
}
