package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup"
)

// Take takes a backup now, verifies it, and then removes what the retention does not keep. It calls
// progress, which may be nil, now and then; the backup does not wait for it. The error has code
// conflict if a backup is under way or the cluster has no entry yet, unavailable if this node does not
// lead or the backup has failed, and unknown if ctx has ended: the backup goes on then. If there is no room to
// verify the backup, Take returns it with the error.
func (r *Runner) Take(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	c, term, err := r.begin()
	if err != nil {
		return layout.BackupInfo{}, err
	}
	type result struct {
		backup layout.BackupInfo
		err    error
	}
	reports, done := make(chan layout.BackupProgress, reportsMax), make(chan result, 1)
	report := func(p layout.BackupProgress) {
		select {
		case reports <- p:
		default: // the caller is slow: it misses this one
		}
	}
	go func() {
		defer r.takes.Done()
		b, err := r.run(term, c, report)
		done <- result{b, err}
	}()
	if progress == nil {
		progress = func(layout.BackupProgress) {}
	}
	for {
		select {
		case p := <-reports:
			progress(p)
		case end := <-done:
			for len(reports) > 0 {
				progress(<-reports)
			}
			return end.backup, end.err
		case <-ctx.Done():
			return layout.BackupInfo{}, agent.Errorf(agent.CodeUnknown, "the backup is still under way: look for it in the list of backups")
		}
	}
}

// reportsMax is the number of reports of its progress that a backup keeps for a slow caller.
const reportsMax = 8

// ErrNoRoom means that a node has no room to restore a backup that it has written.
var ErrNoRoom = errors.New("no room to verify the backup")

// errEmpty is the error of a backup of a cluster that was just founded.
var errEmpty = errors.New("the cluster has no entry yet: take a backup once it has")

// run takes a backup while this node leads.
func (r *Runner) run(term context.Context, c *backup.Catalog, report func(layout.BackupProgress)) (layout.BackupInfo, error) {
	began := time.Now()
	m, unverified, err := r.take(term, c, began, report)
	r.mu.Lock()
	r.status.Phase, r.taking = "", false
	r.mu.Unlock()
	if errors.Is(err, errEmpty) { // no failure: the first entry comes soon
		return layout.BackupInfo{}, agent.Errorf(agent.CodeConflict, "%v", errEmpty)
	}
	if err != nil {
		if term.Err() == nil {
			r.failed("take a backup", err)
		}
		return layout.BackupInfo{}, agent.Errorf(agent.CodeUnavailable, "the backup has failed: %v", err)
	}
	r.metrics.taken(m, time.Since(began))
	if unverified != nil { // older backups stay: this one cannot take their place
		r.failed("verify backup "+m.Name, unverified)
		return Describe(m), agent.Errorf(agent.CodeUnavailable, "backup %s is stored, and its state was not restored: %v", m.Name, unverified)
	}
	r.succeeded(m)
	r.o.Logger.Info("took a backup", "name", m.Name, "index", m.Index, "bytes", m.Bytes)
	if err := r.prune(term, c); err != nil {
		r.failed("remove old backups", err)
	}
	return Describe(m), nil
}

// begin reserves the one place for a backup under way.
func (r *Runner) begin() (*backup.Catalog, context.Context, error) {
	if _, err := r.current(); err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taking || r.catalog == nil {
		return nil, nil, agent.Errorf(agent.CodeConflict, "a backup is under way: wait for it")
	}
	r.taking = true
	r.takes.Add(1)
	return r.catalog, r.term, nil
}

// take writes the state, verifies it, and writes the manifest. If there is no room for the verification, unverified
// says so, and only the bytes of the backup were read back.
func (r *Runner) take(ctx context.Context, c *backup.Catalog, began time.Time, report func(layout.BackupProgress)) (m backup.Manifest, unverified, err error) {
	to, witness, err := r.o.Recipients.WithWitness()
	if err != nil {
		return m, nil, err
	}
	cut, err := r.o.Source.Cut()
	if err != nil {
		return m, nil, err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, cut.Close())
		}
	}()
	m = backup.Manifest{Node: r.o.Node, Version: r.o.Version, StartedAt: began.UnixMilli(), Encrypted: !to.None()}
	cut.Describe(&m)
	if m.Index == 0 {
		return m, nil, errEmpty
	}
	m.Name = backup.NewName(m.Index, began, uint16(rand.Uint32()))
	if m.StateHash, err = cut.StateHash(ctx); err != nil {
		return m, nil, err
	}
	ctx, report, end := watched(ctx, report)
	defer end()
	defer func() {
		if err != nil { // what was written is no backup without its manifest
			rest, end := context.WithTimeout(context.WithoutCancel(ctx), retryFirst)
			defer end()
			_ = c.Delete(rest, m.Name) // prune removes it later
		}
	}()
	if err := r.write(ctx, c, &m, to, cut, report); err != nil {
		return m, nil, err
	}
	open = false
	if err := cut.Close(); err != nil { // its files need room on the disk, as what follows may
		return m, nil, err
	}
	switch err := r.verify(ctx, c, m, witness, report); {
	case errors.Is(err, ErrNoRoom):
		unverified = err
	case err != nil:
		return m, nil, fmt.Errorf("verify: %w", err)
	default:
		m.VerifiedAt = time.Now().UnixMilli()
	}
	return m, unverified, c.PutManifest(ctx, r.o.Key, m)
}

// errStalled means that a backup made no progress for stalledMax.
var errStalled = fmt.Errorf("the destination has made no progress for %v", stalledMax)

// watched returns a context that ends with errStalled if no progress is reported for stalledMax.
func watched(ctx context.Context, report func(layout.BackupProgress)) (context.Context, func(layout.BackupProgress), func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(stalledMax, func() { cancel(errStalled) })
	return ctx, func(p layout.BackupProgress) {
			timer.Reset(stalledMax)
			report(p)
		}, func() {
			timer.Stop()
			cancel(nil)
		}
}

// write stores the state, and completes the manifest.
func (r *Runner) write(ctx context.Context, c *backup.Catalog, m *backup.Manifest, to backup.Recipients, cut Cut, progress func(layout.BackupProgress)) error {
	report := r.reporter(layout.BackupWrites, m.StateBytes, progress)
	content, pipe := io.Pipe()
	stored := backup.NewMeasure(pipe)
	written := make(chan error, 1)
	go func() {
		err := func() error {
			sealed, err := to.Seal(stored)
			if err != nil {
				return err
			}
			if err := cut.Write(counted{sealed, report}); err != nil {
				return err
			}
			return sealed.Close()
		}()
		_ = pipe.CloseWithError(err) // it returns nil
		written <- err
	}()
	err := c.PutState(ctx, m.Name, content, m.StateBytes)
	_ = content.CloseWithError(errors.New("the destination has stopped reading")) // ends the writer if it has not
	if why := <-written; err == nil {
		err = why
	}
	m.Bytes, m.SHA256 = stored.Bytes, stored.SHA256()
	return err
}

// verify reads a backup back, restores it, and compares the state. The error wraps ErrNoRoom if it was read back
// whole, and there is no room to restore it.
func (r *Runner) verify(ctx context.Context, c *backup.Catalog, m backup.Manifest, witness backup.Identities, progress func(layout.BackupProgress)) error {
	reading := *c
	reading.Identities = witness
	stream, err := reading.State(ctx, m)
	if err != nil {
		return err
	}
	defer stream.Close() //nolint:errcheck // it was only read
	report := r.reporter(layout.BackupVerifies, m.StateBytes, progress)
	told := io.TeeReader(stream, counted{io.Discard, report})
	hash, failed := r.o.Source.Rehearse(ctx, told, m.StateBytes)
	if failed != nil && !errors.Is(failed, ErrNoRoom) {
		return failed
	}
	if _, err := io.Copy(io.Discard, told); err != nil { // the end compares the checksum
		return err
	}
	if failed != nil {
		return failed
	}
	if hash != m.StateHash {
		return fmt.Errorf("the restored state has the hash %s, and the node's had %s", hash, m.StateHash)
	}
	return nil
}

// progressEvery is the number of bytes between two reports.
const progressEvery = 1 << 20

// reporter returns a function that counts bytes of a phase, and reports them now and then.
func (r *Runner) reporter(phase string, total int64, progress func(layout.BackupProgress)) func(n int) {
	r.update(func(s *layout.BackupStatus) { s.Phase = phase })
	p, told := layout.BackupProgress{Phase: phase, Total: total}, int64(0)
	progress(p)
	return func(n int) {
		p.Done += int64(n)
		if p.Done-told >= progressEvery || p.Done == total {
			told = p.Done
			progress(p)
		}
	}
}

type counted struct {
	io.Writer
	count func(n int)
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.count(n)
	return n, err
}

// prune removes what the retention does not keep, and what interrupted backups have left.
func (r *Runner) prune(ctx context.Context, c *backup.Catalog) error {
	all, err := c.List(ctx)
	if err != nil {
		return err
	}
	if len(all.Damages) > 0 {
		return fmt.Errorf("%d manifests are damaged: nothing is removed before they are repaired or moved away; \"dormctl backup ls\" names them", len(all.Damages))
	}
	for _, name := range all.Unfinished {
		if backup.Began(name).Add(unfinishedMax).Before(time.Now()) {
			if err := c.Delete(ctx, name); err != nil {
				return err
			}
		}
	}
	if n := len(all.Foreign); n > 0 {
		r.o.Logger.Warn("backups that no trusted key has signed are not removed: name the keys in backup.trusted_keys", "backups", n)
	}
	now := time.Now()
	old, gone := r.o.Retention.Expired(now, r.o.Due, all.Backups, all.Segments)
	_, gone = r.o.Retention.Expired(now, r.o.Due, all.Named(), gone) // the log of the period stays, also behind backups of another key
	for _, m := range old {
		if err := c.Delete(ctx, m.Name); err != nil {
			return err
		}
		r.o.Logger.Info("removed an old backup", "name", m.Name)
	}
	for _, s := range gone {
		if err := c.DeleteSegment(ctx, s); err != nil {
			return err
		}
	}
	r.metrics.removed.Add(float64(len(old)))
	return nil
}
