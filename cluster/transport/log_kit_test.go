package transport

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// failingStore is an engine that fails or hangs when it is told to.
type failingStore struct {
	*raft.InmemStore
	fail error
	hang chan struct{} // calls wait for it; nil does not
}

func (s *failingStore) act() error {
	if s.hang != nil {
		<-s.hang
	}
	return s.fail
}

func (s *failingStore) StoreLogs(logs []*raft.Log) error {
	if err := s.act(); err != nil {
		return err
	}
	return s.InmemStore.StoreLogs(logs)
}

func (s *failingStore) DeleteRange(lowest, highest uint64) error {
	if err := s.act(); err != nil {
		return err
	}
	return s.InmemStore.DeleteRange(lowest, highest)
}

func (s *failingStore) Set(key, value []byte) error {
	if err := s.act(); err != nil {
		return err
	}
	return s.InmemStore.Set(key, value)
}

// summed returns text behind the sum of its bytes, and checkSum checks one: they
// stand for the state machine's frame.
func summed(text string) []byte {
	var sum byte
	for _, b := range []byte(text) {
		sum += b
	}
	return append([]byte{sum}, text...)
}

func checkSum(raw []byte) error {
	if len(raw) == 0 || !bytes.Equal(raw, summed(string(raw[1:]))) {
		return errors.New("bad frame")
	}
	return nil
}

// commandLogs returns the entries first to last, each with a command.
func commandLogs(first, last uint64) []*raft.Log {
	var logs []*raft.Log
	for index := first; index <= last; index++ {
		logs = append(logs, &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: summed(fmt.Sprintf("payload of entry %06d", index))})
	}
	return logs
}

// noSnapshots is a snapshot store without snapshots.
type noSnapshots struct{ raft.SnapshotStore }

func (noSnapshots) List() ([]*raft.SnapshotMeta, error) { return nil, nil }
