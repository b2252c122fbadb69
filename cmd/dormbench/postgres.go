package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dormouse/bench/load"
)

// postgres implements load.Driver for PostgreSQL. Each call is one statement, which is
// one transaction in one round trip, the minimum for any client.
type postgres struct{ pool *pgxpool.Pool }

// postgresConnectionsMax leaves some of the server's default of 100 connections free.
const postgresConnectionsMax = 90

const schema = `
CREATE TABLE IF NOT EXISTS checkpoints (key text PRIMARY KEY, state bytea NOT NULL);
CREATE TABLE IF NOT EXISTS threads (id text PRIMARY KEY, rev bigint NOT NULL);
CREATE TABLE IF NOT EXISTS entries (thread text, seq bigint, payload bytea NOT NULL, PRIMARY KEY (thread, seq));`

// The statements. A thread at rev 0 has no row yet. If the rev is another one, the
// first part returns no row, and the other parts do nothing.
const (
	pgPut   = `INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET state = excluded.state`
	pgGet   = `SELECT state FROM checkpoints WHERE key = $1`
	pgBegin = `WITH t AS (INSERT INTO threads SELECT $1, cardinality($3::bytea[]) WHERE $2::bigint = 0 ON CONFLICT DO NOTHING RETURNING id)`
	pgBump  = `WITH t AS (UPDATE threads SET rev = rev + cardinality($3::bytea[]) WHERE id = $1 AND rev = $2 RETURNING id)`
	pgPutIf = `, c AS (INSERT INTO checkpoints SELECT id, $4 FROM t ON CONFLICT (key) DO UPDATE SET state = excluded.state)`
	pgAdd   = ` INSERT INTO entries SELECT t.id, $2::bigint + e.n - 1, e.payload FROM t, unnest($3::bytea[]) WITH ORDINALITY AS e (payload, n)`
	pgThaw  = `SELECT state, ARRAY(SELECT payload FROM entries WHERE thread = $1 ORDER BY seq DESC LIMIT $2) FROM checkpoints WHERE key = $1`
	pgLook  = `SELECT rev FROM threads WHERE id = $1`
)

func dialPostgres(ctx context.Context, endpoint string, connections int) (*postgres, error) {
	address := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: endpoint, Path: "/postgres", RawQuery: "sslmode=disable"}
	config, err := pgxpool.ParseConfig(address.String())
	if err != nil {
		return nil, fmt.Errorf("dial PostgreSQL: %w", err)
	}
	config.MaxConns = int32(min(max(connections, 1), postgresConnectionsMax))
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("dial PostgreSQL: %w", err)
	}
	if _, err := pool.Exec(ctx, schema); err != nil {
		pool.Close()
		return nil, fmt.Errorf("make PostgreSQL's tables: %w", err)
	}
	return &postgres{pool}, nil
}

// Put implements load.Driver.
func (d *postgres) Put(ctx context.Context, key string, checkpoint []byte) error {
	_, err := d.pool.Exec(ctx, pgPut, key, checkpoint)
	return err
}

// Get implements load.Driver.
func (d *postgres) Get(ctx context.Context, key string) ([]byte, error) {
	var state []byte
	err := d.pool.QueryRow(ctx, pgGet, key).Scan(&state)
	return state, err
}

// Append implements load.Driver.
func (d *postgres) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	return d.commit(ctx, t, "", entries)
}

// Turn implements load.Driver.
func (d *postgres) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	return d.commit(ctx, t, pgPutIf, entries, checkpoint)
}

// commit appends, with the statement part more in the same statement.
func (d *postgres) commit(ctx context.Context, t *load.Thread, more string, entries [][]byte, args ...any) error {
	bump := pgBump
	if t.Rev == 0 {
		bump = pgBegin
	}
	done, err := d.pool.Exec(ctx, bump+more+pgAdd, append([]any{t.ID, int64(t.Rev), entries}, args...)...)
	if err != nil {
		return err
	}
	if done.RowsAffected() != int64(len(entries)) {
		return fmt.Errorf("PostgreSQL: thread %s is not at %s", t.ID, strconv.FormatUint(t.Rev, 10))
	}
	t.Rev += uint64(len(entries))
	return nil
}

// Thaw implements load.Driver.
func (d *postgres) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	var state []byte
	var entries [][]byte
	err := d.pool.QueryRow(ctx, pgThaw, key, tail).Scan(&state, &entries)
	return state, len(entries), err
}

// Look implements load.Driver.
func (d *postgres) Look(ctx context.Context, t *load.Thread) error {
	var rev int64
	err := d.pool.QueryRow(ctx, pgLook, t.ID).Scan(&rev)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	t.Rev = uint64(rev)
	return err
}

// Close implements load.Driver.
func (d *postgres) Close() error {
	d.pool.Close()
	return nil
}
