package backup_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/internal/logchain"
)

const cluster = "c-1"

// destination is a directory with backups and a shipped log.
type destination struct {
	*backup.Catalog
	dir string
	key ed25519.PrivateKey
	log []entry
	to  backup.Recipients
}

// entry is an entry of the log that is shipped.
type entry struct {
	backup.Entry
	time  int64
	chain uint32 // up to it
}

func newDestination(t *testing.T) *destination {
	t.Helper()
	dir := t.TempDir()
	store, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	return &destination{
		Catalog: &backup.Catalog{Store: store, Cluster: cluster, Trust: backup.Trust{Keys: []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}}},
		dir:     dir, key: key,
	}
}

// write adds entries to the log. Each third index is one of Raft's own entries. time advances by 10 ms
// with each second entry.
func (d *destination) write(n int) {
	for range n {
		last := entry{time: 1_700_000_000_000}
		last.Index = 10
		if len(d.log) > 0 {
			last = d.log[len(d.log)-1]
		}
		e := entry{time: last.time + 10*int64(len(d.log)%2)}
		e.Index, e.Term = last.Index+1, 3
		if e.Index%3 == 0 {
			e.Index++
		}
		e.Data = frame(fmt.Sprintf("entry %d", e.Index), e.time)
		e.chain = logchain.Next(last.chain, e.Index, e.Term, logchain.Sum(e.Data))
		d.log = append(d.log, e)
	}
}

// frame returns an entry with its frame, as the log has it. Its content is its time and a text.
func frame(text string, time int64) []byte {
	raw := append([]byte{0xd0, 0x5e, 1, 0, 0, 0, 0, 0}, binary.BigEndian.AppendUint64(nil, uint64(time))...)
	raw = append(raw, text...)
	binary.LittleEndian.PutUint32(raw[4:], logchain.Sum(raw))
	return raw
}

func timeOf(entry []byte) (int64, error) { return int64(binary.BigEndian.Uint64(entry[8:])), nil }

// before returns the chain and the time of the log before its i-th entry.
func (d *destination) before(i int) (index uint64, chain uint32, time int64) {
	if i == 0 {
		return 10, 0, 1_700_000_000_000
	}
	return d.log[i-1].Index, d.log[i-1].chain, d.log[i-1].time
}

// ship ships the entries from the i-th up to the j-th of the log, without the latter.
func (d *destination) ship(t *testing.T, node string, i, j int) backup.SegmentRef {
	t.Helper()
	after, chain, at := d.before(i)
	w := backup.NewSegment(cluster, node, after, chain, at)
	for _, e := range d.log[i:j] {
		if err := w.Add(e.Entry, e.time); err != nil {
			t.Fatal(err)
		}
	}
	ref, err := d.PutSegment(t.Context(), d.key, d.to, w)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// state is the content of the backup after the i-th entry: the stub of a snapshot.
func (d *destination) state(i int) []byte {
	index, chain, at := d.before(i)
	return fmt.Appendf(nil, "state %d %d %d", index, chain, at)
}

// backUp stores a backup of the state after i entries.
func (d *destination) backUp(t *testing.T, i int) backup.Manifest {
	t.Helper()
	index, chain, at := d.before(i)
	var stored bytes.Buffer
	measure := backup.NewMeasure(&stored)
	out, err := d.to.Seal(measure)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write(d.state(i))
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	m := backup.Manifest{
		Name: backup.NewName(index, time.UnixMilli(at), 1), Node: "n1", Index: index, Term: 3, Chain: chain, Time: at, Encrypted: !d.to.None(),
		StateHash: fmt.Sprintf("%064d", i), StateBytes: int64(len(d.state(i))), Bytes: measure.Bytes, SHA256: measure.SHA256(), StartedAt: at,
	}
	if err := d.PutState(t.Context(), m.Name, &stored, m.Bytes); err != nil {
		t.Fatal(err)
	}
	if err := d.PutManifest(t.Context(), d.key, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// machine applies entries, and remembers them.
type machine struct {
	index   uint64
	chain   uint32
	time    int64
	applied []uint64
}

func (m *machine) Chain() (uint64, uint32) { return m.index, m.chain }
func (m *machine) Stamps() (uint64, int64) { return 0, m.time }

func (m *machine) Replay(index, term uint64, data []byte) error {
	at, err := timeOf(data)
	m.index, m.chain, m.time = index, logchain.Next(m.chain, index, term, logchain.Sum(data)), max(m.time, at)
	m.applied = append(m.applied, index)
	return err
}

// restore restores the state at a target.
func (d *destination) restore(t *testing.T, target backup.Target) (*machine, error) {
	t.Helper()
	plan, err := d.Plan(t.Context(), target)
	if err != nil {
		return nil, err
	}
	r, err := d.State(t.Context(), plan.Base)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	m := &machine{}
	if _, err := fmt.Sscanf(string(raw), "state %d %d %d", &m.index, &m.chain, &m.time); err != nil {
		return nil, err
	}
	_, err = plan.Replay(t.Context(), m, timeOf, nil)
	return m, err
}

// objects returns the files of the destination.
func (d *destination) objects(t *testing.T) (files []string) {
	t.Helper()
	all, err := d.Store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		files = append(files, filepath.Join(d.dir, filepath.FromSlash(o.Name)))
	}
	return files
}
