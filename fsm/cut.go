package fsm

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dormouse/fsm/snapshot"
	"dormouse/storage"
)

// A Cut is the whole state at one entry, on its way into a backup. Close it soon: it keeps files of
// the engine on the disk.
type Cut struct {
	cut     *cut
	encoded []byte // the beginning of the stream
	release func()
}

// Cut returns the state at an entry no older than the call. The machine continues to apply entries
// meanwhile.
func (m *Machine) Cut() (*Cut, error) {
	m.mu.RLock()
	g := m.gen
	held := g.acquire()
	m.mu.RUnlock()
	if !held {
		return nil, errStopped
	}
	c, err := m.data.cut(g, nil)
	if err != nil {
		g.release()
		return nil, fmt.Errorf("cut the state: %w", err)
	}
	out := &Cut{cut: c, release: g.release}
	if err = c.name(); err == nil {
		out.encoded, err = snapshot.EncodeHeader(c.header)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cut the state: %w", err), out.Close())
	}
	return out, nil
}

// Info describes the state.
func (c *Cut) Info() SnapshotInfo { return describeStream(c.encoded, c.cut.header) }

// Write writes the state as a snapshot stream.
func (c *Cut) Write(w io.Writer) error { return c.cut.stream(w) }

// StateHash returns what View.StateHash returns for the state.
func (c *Cut) StateHash(ctx context.Context) (hash string, err error) {
	d := c.cut.data
	engine, err := storage.Open(c.cut.dir, storage.Options{FS: d.fs, ReadOnly: true, CacheBytes: 1, Fatal: d.engines.Fatal})
	if err != nil {
		return "", fmt.Errorf("hash a cut of the state: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	view := engine.View()
	defer view.Close()
	return hashRows(ctx, view)
}

// Close removes the cut.
func (c *Cut) Close() error {
	defer c.release()
	return c.cut.discard()
}
