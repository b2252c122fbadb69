package main

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"dormouse/bench/load"
)

// redisDriver implements load.Driver for Redis. It stores a checkpoint as a string
// under c/KEY, and a thread as a list under e/THREAD, whose length is the rev.
type redisDriver struct{ client *redis.Client }

var (
	redisAppend = redis.NewScript(`
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return redis.error_reply('the thread is at another rev') end
return redis.call('RPUSH', KEYS[1], unpack(ARGV, 2))`)
	redisTurn = redis.NewScript(`
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) then return redis.error_reply('the thread is at another rev') end
redis.call('SET', KEYS[2], ARGV[2])
return redis.call('RPUSH', KEYS[1], unpack(ARGV, 3))`)
	redisThaw = redis.NewScript(`return {redis.call('GET', KEYS[2]), redis.call('LRANGE', KEYS[1], ARGV[1], -1)}`)
)

// dialRedis returns a driver with a connection for each caller. Redis flushes once for
// the concurrent calls of several connections.
func dialRedis(endpoint string, connections int) *redisDriver {
	return &redisDriver{redis.NewClient(&redis.Options{Addr: endpoint, PoolSize: connections, DisableIdentity: true})}
}

// Put implements load.Driver.
func (d *redisDriver) Put(ctx context.Context, key string, checkpoint []byte) error {
	return d.client.Set(ctx, "c/"+key, checkpoint, 0).Err()
}

// Get implements load.Driver.
func (d *redisDriver) Get(ctx context.Context, key string) ([]byte, error) {
	return d.client.Get(ctx, "c/"+key).Bytes()
}

// Append implements load.Driver.
func (d *redisDriver) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	return d.commit(ctx, t, redisAppend, []any{t.Rev}, entries)
}

// Turn implements load.Driver.
func (d *redisDriver) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	return d.commit(ctx, t, redisTurn, []any{t.Rev, checkpoint}, entries)
}

func (d *redisDriver) commit(ctx context.Context, t *load.Thread, script *redis.Script, args []any, entries [][]byte) error {
	for _, e := range entries {
		args = append(args, e)
	}
	rev, err := script.Run(ctx, d.client, []string{"e/" + t.ID, "c/" + t.ID}, args...).Uint64()
	if err != nil {
		return err
	}
	t.Rev = rev
	return nil
}

// Thaw implements load.Driver.
func (d *redisDriver) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	both, err := redisThaw.RunRO(ctx, d.client, []string{"e/" + key, "c/" + key}, -tail).Slice()
	if err != nil {
		return nil, 0, err
	}
	checkpoint, ok := both[0].(string)
	entries, listed := both[1].([]any)
	if !ok || !listed {
		return nil, 0, fmt.Errorf("redis has no agent %s", key)
	}
	return []byte(checkpoint), len(entries), nil
}

// Look implements load.Driver.
func (d *redisDriver) Look(ctx context.Context, t *load.Thread) error {
	rev, err := d.client.LLen(ctx, "e/"+t.ID).Uint64()
	t.Rev = rev
	return err
}

// Close implements load.Driver.
func (d *redisDriver) Close() error { return d.client.Close() }
