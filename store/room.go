package store

import (
	"context"
	"reflect"
	"runtime"

	"dormouse/agent"
)

// answerBytesMax bounds what all answers of one request may use in memory: the servers can send no
// more.
const answerBytesMax = 2 * agent.ReadBytesMax

// gate bounds the long reads that are answered at once. Each may use answerBytesMax, and more of
// them than processors are no faster.
type gate chan struct{}

func newGate() gate { return make(gate, max(8, 2*runtime.GOMAXPROCS(0))) }

// enter waits until reads may be answered, and returns what to call after that.
func (g gate) enter(ctx context.Context, reads []agent.Read) (leave func(), err error) {
	if !long(reads) {
		return func() {}, nil
	}
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, agent.Errorf(agent.CodeUnavailable, "this node is answering other long reads: %v", ctx.Err())
	}
}

// long reports whether the answers of reads may be large together.
func long(reads []agent.Read) bool {
	if len(reads) > 1 {
		return true
	}
	for _, r := range reads {
		switch r.(type) {
		case *agent.GetValue, *agent.GetCheckpoint, *agent.GetThread, *agent.GetEntry, *agent.GetScope,
			*agent.GetClaim, *agent.GetMemory, *agent.GetSession, *agent.GetReview, *agent.GetTimer:
		default:
			return true
		}
	}
	return false
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
