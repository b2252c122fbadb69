package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// The log stores and the stable store return data with flipped bits without an
// error (docs/hazards.md, S1). So every entry and every value carries a checksum of
// ours, which Raft never sees.

// boltStableBucket is where raft-boltdb keeps a stable store.
const boltStableBucket = "conf"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealMagic opens the eight bytes that sealed entries carry at the end of
// their Extensions, which both engines keep; four bytes of CRC32C follow.
const (
	sealMagic = "dmE1"
	sealBytes = len(sealMagic) + 4
)

// checkedLogs adds a checksum to entries that are written, and checks and removes
// it when they are read. The checksum covers index, term, type, data and
// extensions, so it also protects entries that are no commands and have no frame
// of their own. It does not cover AppendedAt, which has no effect.
type checkedLogs struct {
	raft.LogStore
	check    func(entry []byte) error // of commands; nil checks none
	place    string                   // of the log, for errors
	failStop *FailStop
}

func (s checkedLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs refuses a command that does not pass its own check. The guard lets no
// such entry in, so it was damaged in this node's memory.
func (s checkedLogs) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	for i, log := range logs {
		if err := s.checkEntry(log); err != nil {
			return s.failStop.Poison(fmt.Errorf("log entry %d is corrupt before it was ever written: check this node's memory: %w", log.Index, err))
		}
		sealed[i] = seal(log)
	}
	return s.LogStore.StoreLogs(sealed)
}

func (s checkedLogs) GetLog(index uint64, log *raft.Log) error {
	var stored raft.Log
	if err := s.LogStore.GetLog(index, &stored); err != nil {
		return err
	}
	err := unseal(index, &stored)
	if err == nil {
		err = s.checkEntry(&stored)
	}
	if err != nil {
		return s.failStop.Poison(fmt.Errorf("log entry %d in %s is %w (%w): %s", index, s.place, ErrDamaged, err, Rebuild))
	}
	*log = stored
	return nil
}

func (s checkedLogs) checkEntry(log *raft.Log) error {
	if s.check == nil || log.Type != raft.LogCommand {
		return nil
	}
	return s.check(log.Data)
}

func seal(log *raft.Log) *raft.Log {
	sealed := *log
	sealed.Extensions = make([]byte, 0, len(log.Extensions)+sealBytes)
	sealed.Extensions = append(sealed.Extensions, log.Extensions...)
	sealed.Extensions = append(sealed.Extensions, sealMagic...)
	sealed.Extensions = binary.LittleEndian.AppendUint32(sealed.Extensions, entrySum(log, log.Extensions))
	return &sealed
}

var errSum = errors.New("checksum mismatch")

// unseal checks the entry that was read at index and removes its checksum.
func unseal(index uint64, log *raft.Log) error {
	if log.Index != index {
		return fmt.Errorf("it claims to be entry %d", log.Index)
	}
	rest := len(log.Extensions) - sealBytes
	if rest < 0 || string(log.Extensions[rest:rest+len(sealMagic)]) != sealMagic {
		return errors.New("it has no checksum")
	}
	want := binary.LittleEndian.Uint32(log.Extensions[rest+len(sealMagic):])
	if entrySum(log, log.Extensions[:rest]) != want {
		return errSum
	}
	log.Extensions = log.Extensions[:rest:rest]
	if rest == 0 {
		log.Extensions = nil
	}
	return nil
}

func entrySum(log *raft.Log, extensions []byte) uint32 {
	var head [8 * 4]byte
	binary.LittleEndian.PutUint64(head[0:], log.Index)
	binary.LittleEndian.PutUint64(head[8:], log.Term)
	binary.LittleEndian.PutUint64(head[16:], uint64(log.Type))
	binary.LittleEndian.PutUint64(head[24:], uint64(len(log.Data))) // so that a byte cannot move from one part to the other
	sum := crc32.Update(0, castagnoli, head[:])
	sum = crc32.Update(sum, castagnoli, log.Data)
	return crc32.Update(sum, castagnoli, extensions)
}

// checkedStable stores each value with a checksum over key and value.
type checkedStable struct {
	raft.StableStore
	failStop *FailStop
}

func (s checkedStable) Set(key, value []byte) error {
	sealed := make([]byte, 0, len(value)+crc32.Size)
	sealed = append(sealed, value...)
	return s.StableStore.Set(key, binary.LittleEndian.AppendUint32(sealed, valueSum(key, value)))
}

func (s checkedStable) Get(key []byte) ([]byte, error) {
	sealed, err := s.StableStore.Get(key)
	if err != nil {
		return nil, err
	}
	value, err := openValue(key, sealed)
	if err != nil {
		return nil, s.failStop.Poison(fmt.Errorf("%s is %w on disk (%w): %s", key, ErrDamaged, err, Rebuild))
	}
	return value, nil
}

func openValue(key, sealed []byte) ([]byte, error) {
	rest := len(sealed) - crc32.Size
	if rest < 0 || valueSum(key, sealed[:rest]) != binary.LittleEndian.Uint32(sealed[rest:]) {
		return nil, errSum
	}
	return sealed[:rest:rest], nil
}

// checkSealed checks the values of the stable store for checkBolt, also those under
// a damaged key, which no caller would read.
func checkSealed(bucket, key, value []byte) error {
	if string(bucket) != boltStableBucket {
		return nil
	}
	if _, err := openValue(key, value); err != nil {
		return fmt.Errorf("%.40q: %w", key, err)
	}
	return nil
}

func (s checkedStable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

func (s checkedStable) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("%s has %d bytes: want 8", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

func valueSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
