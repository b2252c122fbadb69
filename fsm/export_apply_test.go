package fsm

import (
	"reflect"

	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// RowsOf returns the number of rows of a kind.
func (v *View) RowsOf(kind string) (int, error) {
	cursor, err := v.view.Scan([]byte(kind), []byte(kv.After(kind)))
	if err != nil {
		return 0, err
	}
	n := 0
	for cursor.Next() {
		n++
	}
	return n, cursor.Close()
}

// EachOfKind visits the rows of a kind.
func (v *View) EachOfKind(kind string, visit func(rest string, raw []byte) error) error {
	return txn.EachRow(v.view, kind, visit)
}

// The kinds that tests count.
const ()

// MemoryKinds are the kinds of the rows that memories leave, except tombstones.
var MemoryKinds = []string{
	kv.KindMemory, kv.KindMemoryBody, kv.KindMemoryOrder, kv.KindMemorySession, kv.KindMemoryTime, kv.KindMemoryAgent, kv.KindMemoryGone,
}

// ProgressRow returns the row of the engine's progress, and its key.
func (m *Machine) ProgressRow() (key, value []byte, err error) {
	value, _, err = m.gen.engine.Get(txn.ProgressKey)
	return txn.ProgressKey, value, err
}

// CheckFormat returns an error if the format of an engine's rows is not supported.
func CheckFormat(r storage.Reader) error {
	_, err := txn.ReadProgress(r)
	return err
}

// CheckAnswered returns an error if a client's rows of answers cannot be decoded.
func CheckAnswered(row *logpb.ClientRow) error {
	_, err := answeredOf(row)
	return err
}

// RegisteredOps returns the types of ops that run.
func RegisteredOps() map[string]bool { return typesOf(opRuns) }

// RegisteredReads returns the types of reads that are answered.
func RegisteredReads() map[string]bool { return typesOf(readRuns) }

func typesOf[F any](registry map[reflect.Type]F) map[string]bool {
	names := map[string]bool{}
	for t := range registry {
		names[t.String()] = true
	}
	return names
}
