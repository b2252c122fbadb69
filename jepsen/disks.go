package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/workload"
)

// disksMax bounds the reading of all disks.
const disksMax = 3 * time.Minute

// disks is a stage whose nodes' disks can be read.
type disks interface {
	// readDisks ends all nodes. Then it makes a cluster of one from a copy of each node's
	// data, entries of the log included, and calls read with its address.
	readDisks(ctx context.Context, record *history.Recorder, read func(host, addr string) error) error
}

// readDisks reads what each node has on its disk, if the cluster has not recovered: what was
// acknowledged must be on one of them.
func (r *run) readDisks(ctx context.Context, recovered bool, c *callers) {
	stage, readable := r.stage.(disks)
	if recovered || !readable || ctx.Err() != nil {
		return
	}
	r.tell("the cluster did not recover: reading the disks of all nodes")
	ctx, cancel := context.WithTimeout(ctx, disksMax)
	defer cancel()
	err := stage.readDisks(ctx, r.record, func(host, addr string) error {
		var wrong []error
		for _, t := range c.groups {
			reader, reads := t.workload.(workload.DiskReader)
			if !reads {
				continue
			}
			fresh, err := r.stage.dial(t.last.Scope, false, addr)
			if err != nil {
				return err
			}
			c.clients = append(c.clients, fresh)
			p := *t.last
			p.Client, p.Node = workload.GoClient{Client: fresh}, host
			if err := reader.ReadDisk(ctx, &p); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", t.workload.Name(), err))
			}
		}
		return errors.Join(wrong...)
	})
	if err != nil {
		r.record.Event(history.Event{Kind: history.EventNote, Name: check.NoteDiskUnread, Detail: err.Error()})
		r.tell(err.Error())
	}
}

// readDisks implements disks.
func (s *bedStage) readDisks(ctx context.Context, record *history.Recorder, read func(host, addr string) error) error {
	all := s.bed.Hosts()
	for _, h := range all {
		record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMayExit, Node: h.Name(), Detail: "any"})
		if err := h.Kill(); err != nil {
			return err
		}
	}
	spare, err := s.bed.AddHost(ctx)
	if err != nil {
		return err
	}
	record.Event(history.Event{Kind: history.EventNote, Name: check.NoteMayExit, Node: spare.Name(), Detail: "any"})
	var wrong []error
	for _, h := range all {
		if err := s.readDisk(ctx, spare, h, read); err != nil {
			wrong = append(wrong, fmt.Errorf("the disk of %s was not read: %w", h.Name(), err))
		}
	}
	return errors.Join(wrong...)
}

// readDisk starts a copy of a killed node's data on a spare host, as a cluster of one.
func (s *bedStage) readDisk(ctx context.Context, spare, h *testbed.Host, read func(host, addr string) error) (err error) {
	dir, args, err := testbed.RecoverArgs(h, spare)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the node has lost its disk, and does not run: nothing is on it
	}
	if err != nil {
		return err
	}
	if _, err := s.bed.Offline(ctx, args...); err != nil {
		return err
	}
	spare.Apart(dir)
	defer func() { err = errors.Join(err, spare.Kill(), spare.Discard()) }()
	if err := spare.Start(ctx); err != nil {
		return err
	}
	if err := spare.Ready(ctx); err != nil {
		return err
	}
	for { // a node is ready a moment before it leads
		if err = read(h.Name(), spare.GRPC()); err == nil || !pause.For(ctx, time.Second) {
			return err
		}
	}
}
