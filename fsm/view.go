package fsm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"dormouse/agent"
	"dormouse/fsm/claim"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	"dormouse/recall"
	"dormouse/storage"
)

// View is the state at one entry; all its reads are of that entry. It keeps the engine from
// removing old data, so close it soon. It may be used by several goroutines at once.
type View struct {
	gen      *generation
	view     *storage.View
	progress txn.Progress
	epoch    uint64 // of gen's read cache before the view was made
	recalls  recall.Reader
	imports  imports // under way when the view was made
	err      error   // why the view could not be made

	deletions *txn.Deletions // under way
}

// View returns the current state.
func (m *Machine) View() *View {
	m.mu.RLock()
	g, recalls, done := m.gen, m.recalls.Reader(), m.progress
	epoch := g.warm.Epoch()
	before := m.imports.Load()
	deletions, deletionsAt := m.deletions, m.deletionsAt
	ok := g.acquire()
	m.mu.RUnlock()
	if !ok {
		return &View{err: errors.New("the state machine is closed")}
	}
	v := &View{gen: g, view: g.engine.View(), progress: done, epoch: epoch, recalls: recalls, deletions: deletions}
	v.imports = underWay(*before, *m.imports.Load())
	if epoch%2 == 1 || g.warm.Epoch() != epoch { // an entry is being applied, and the view may include it
		v.progress, v.err = txn.ReadProgress(v.view)
	}
	if m.deletionChanges.Load() != deletionsAt && v.err == nil { // an entry changes them, and the view may include it
		v.deletions, v.err = txn.ReadDeletions(v.view)
	}
	return v
}

// Close ends the view.
func (v *View) Close() {
	if v.view == nil {
		return
	}
	v.view.Close()
	v.gen.release()
}

// Index returns the entry that the view is of.
func (v *View) Index() uint64 { return v.progress.Index }

// Get implements kv.Reader.
func (v *View) Get(key string) ([]byte, error) {
	keep := kv.InReadCache(key)
	if keep {
		if value, ok := v.gen.warm.Get(key, v.progress.Index); ok {
			if invariant.Enabled {
				stored, found, err := v.view.Get([]byte(key))
				invariant.Check(err != nil || found == (value != nil) && bytes.Equal(stored, value), "row %q as of entry %d is another in memory", key, v.progress.Index)
			}
			return value, nil
		}
	}
	value, ok, err := v.view.Get([]byte(key))
	if err != nil {
		return nil, err
	}
	if keep && (ok || kv.AbsentInReadCache(key)) {
		v.gen.warm.Keep(key, value, v.progress.Index, v.epoch)
	}
	return value, nil
}

// Tail implements txn.Tails.
func (v *View) Tail(key string) (kv.Tail, bool) { return v.gen.warm.Tail(key) }

// KeepTail implements txn.Tails.
func (v *View) KeepTail(key string, piece []byte) { v.gen.warm.KeepTail(key, piece, v.epoch) }

// Answer answers one read, which Reads.Validate has accepted.
func (v *View) Answer(scope string, r agent.Read) agent.Answer {
	return answerOf(v.find(scope, r, false))
}

// TryAnswer is Answer if that is cheap. ok is false if the in-memory index for the read has already
// moved past the view: use a newer view.
func (v *View) TryAnswer(scope string, r agent.Read) (answer agent.Answer, ok bool) {
	found, err := v.find(scope, r, true)
	if errors.Is(err, recall.ErrTooOld) {
		return agent.Answer{}, false
	}
	return answerOf(found, err), true
}

func (v *View) find(scope string, r agent.Read, hasty bool) (agent.Found, error) {
	if v.err != nil {
		return nil, v.err
	}
	if scope == "" {
		scope = agent.DefaultScope
	}
	if err := v.readable(scope, r); err != nil {
		return nil, err
	}
	rows := v.reader(scope)
	rows.Hasty = hasty
	return answerRead(rows, r)
}

// reader returns a reader of a scope of the view.
func (v *View) reader(scope string) txn.Reader {
	return txn.Reader{Reader: v, Engine: v.view, Tails: v, Progress: v.progress, Scope: scope, Recalls: v.recalls, Deletions: v.deletions}
}

// Claim returns a claim at the view's entry. An expired claim has no holder, even if it has not
// been swept yet.
func (v *View) Claim(scope, name string) (agent.Claim, error) {
	if v.err != nil {
		return agent.Claim{}, v.err
	}
	return claim.Read(v.reader(scope), name)
}

// answerOf converts a result of find to an answer. An error that is not an *agent.Error means that
// stored data cannot be read: it is corrupt, unless this node lacks what it takes to read it.
func answerOf(found agent.Found, err error) agent.Answer {
	if err == nil {
		return agent.Answer{Found: found}
	}
	var known *agent.Error
	switch {
	case errors.As(err, &known):
	case storage.Exhausted(err):
		known = agent.Errorf(agent.CodeUnavailable, "this node cannot read its data now: %v", err)
	default:
		known = agent.Errorf(agent.CodeCorrupt, "%v", err)
	}
	return agent.Answer{Err: known}
}

// Sum describes the rows of one kind.
type Sum struct {
	Kind  string // its name
	Rows  uint64
	Bytes uint64 // of keys and values
	Hash  uint64 // xxHash64 of keys and values
}

// StateSum returns the hash that StateHash returns, and a sum for each kind that has rows, sorted
// by kind. Replicas whose states differ at one index have different sums of the kinds that differ.
// It reads everything, so use it only in tests and for diagnosis.
func (v *View) StateSum(ctx context.Context) (hash string, sums []Sum, err error) {
	if v.err != nil {
		return "", nil, v.err
	}
	kind, digest := byte(0), xxhash.New()
	hash, err = hashRows(ctx, v.view, func(key, frame []byte) {
		if len(sums) == 0 || key[0] != kind {
			kind = key[0]
			digest.Reset()
			sums = append(sums, Sum{Kind: kv.KindName(string(key[:1]))})
		}
		s := &sums[len(sums)-1]
		_, _ = digest.Write(frame)
		s.Bytes += uint64(len(frame)) - 2*lengthBytes
		s.Rows, s.Hash = s.Rows+1, digest.Sum64()
	})
	return hash, sums, err
}

// StateHash returns a hash over all rows: equal on equal replicas at one index. It reads
// everything, so use it only in tests and for diagnosis.
func (v *View) StateHash(ctx context.Context) (string, error) {
	if v.err != nil {
		return "", v.err
	}
	return hashRows(ctx, v.view, nil)
}

// lengthBytes is the size of the length before each part of a row that is hashed.
const lengthBytes = 8

// hashRows returns the SHA-256 over all rows, each as a frame: key and value, with their lengths
// before them. It calls each with every frame, which is valid until each returns.
func hashRows(ctx context.Context, view *storage.View, each func(key, frame []byte)) (string, error) {
	cursor, err := view.Scan(nil, nil)
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	var frame []byte
	for rows := 0; cursor.Next(); rows++ {
		if rows%1024 == 0 && ctx.Err() != nil {
			_ = cursor.Close()
			return "", fmt.Errorf("hash the state: %w", context.Cause(ctx))
		}
		frame = frame[:0]
		for _, part := range [][]byte{cursor.Key(), cursor.Value()} {
			frame = append(binary.BigEndian.AppendUint64(frame, uint64(len(part))), part...)
		}
		digest.Write(frame)
		if each != nil {
			each(cursor.Key(), frame)
		}
	}
	if err := cursor.Close(); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
