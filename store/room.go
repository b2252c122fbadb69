package store

import (
	"context"
	"errors"
	"reflect"
	"runtime"

	"dormouse/agent"
	"dormouse/internal/budget"
)

// AnswerBytesMax bounds what all answers of one request may use in memory: the servers can send no
// more.
const AnswerBytesMax = 2 * agent.ReadBytesMax

// Room for reads that are answered at once, in bytes. A page may have ReadBytesMax; single rows are
// mostly small.
const (
	gateBytesMin = AnswerBytesMax
	gateBytesMax = 16 * agent.ReadBytesMax
	rowBytes     = 256 << 10

	retryAfterMS = 1000
)

// newGate returns the gate of the reads that may have large answers. More of them at once than
// processors are no faster.
func newGate() *budget.Gate {
	return budget.NewGate(min(max(gateBytesMin, int64(runtime.GOMAXPROCS(0))*agent.ReadBytesMax), gateBytesMax))
}

// enter waits until reads may be answered, and returns what to call after that.
func (s *Store) enter(ctx context.Context, reads []agent.Read) (leave func(), err error) {
	n := expected(reads)
	if n <= rowBytes {
		return func() {}, nil
	}
	leave, err = s.gate.Enter(ctx, n)
	if errors.Is(err, budget.ErrFull) {
		full := agent.Errorf(agent.CodeOverloaded, "this node has as many bytes of answers in flight as it may; retry later")
		full.RetryAfterMS = retryAfterMS
		return nil, full
	}
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node is answering other long reads: %v", err)
	}
	return leave, nil
}

// expected returns how many bytes the answers of reads may have; single rows count as rowBytes.
func expected(reads []agent.Read) int64 {
	var n int64
	for _, r := range reads {
		switch r.(type) {
		case *agent.GetValue, *agent.GetCheckpoint, *agent.GetThread, *agent.GetEntry, *agent.GetScope,
			*agent.GetClaim, *agent.GetMemory, *agent.GetSession, *agent.GetReview, *agent.GetTimer:
			n += rowBytes
		default:
			n += agent.ReadBytesMax
		}
	}
	return min(n, AnswerBytesMax)
}

// answerBytes returns about how many bytes of memory an answer uses.
func answerBytes(found agent.Found) int {
	switch f := found.(type) {
	case nil:
		return 0
	case *agent.Value:
		return len(f.Bytes) + len(f.Metadata)
	case *agent.Checkpoint:
		return len(f.State) + len(f.Metadata)
	case *agent.Thread, *agent.Claim:
		return 0 // small
	default:
		return sizeOf(reflect.ValueOf(found))
	}
}

// SizeOf returns the approximate number of bytes of the strings in an op, an answer or an event.
func SizeOf(v any) int { return sizeOf(reflect.ValueOf(v)) }

// sizeOf adds up the strings and bytes in v.
func sizeOf(v reflect.Value) int {
	size := 0
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size = sizeOf(v.Elem())
		}
	case reflect.String:
		size = v.Len()
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind <= reflect.Complex128 {
			return v.Len() * int(v.Type().Elem().Size()) //nolint:gosec // small
		}
		for i := range v.Len() {
			size += sizeOf(v.Index(i))
		}
	case reflect.Map:
		for of := v.MapRange(); of.Next(); {
			size += sizeOf(of.Key()) + sizeOf(of.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			size += sizeOf(v.Field(i))
		}
	default: // a number
	}
	return size
}
