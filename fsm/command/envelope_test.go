package command_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"dormouse/agent"
	"dormouse/fsm/command"
	logpb "dormouse/proto/log"
)

func batchOf(commits ...string) *logpb.Batch {
	b := &logpb.Batch{TickMs: 1 << 40, WallMs: 1_764_000_000_000, AuditIndex: 77, AuditChain: 0xfeedbeef}
	for _, c := range commits {
		b.Commits = append(b.Commits, []byte(c))
	}
	return b
}

func TestUnpackGivesBackWhatWasPacked(t *testing.T) {
	for name, b := range map[string]*logpb.Batch{
		"empty":         {},
		"stamps":        batchOf(),
		"commits":       batchOf("one", "", "three"),
		"negative wall": {WallMs: -5},
	} {
		t.Run(name, func(t *testing.T) {
			entry := command.Pack(b)
			got, crc, err := command.Unpack(entry)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b, got, protocmp.Transform()); diff != "" {
				t.Errorf("(-packed +unpacked)\n%s", diff)
			}
			if crc == 0 {
				t.Error("no checksum")
			}
			// The content of the frame is plain protobuf, for other readers.
			plain := &logpb.Batch{}
			if err := proto.Unmarshal(entry[command.FrameBytes:], plain); err != nil || !proto.Equal(plain, b) {
				t.Errorf("as protobuf: %v %v", plain, err)
			}
		})
	}
}

func TestAnyFlippedBitOrMissingByteOfAnEntryIsFound(t *testing.T) {
	entry := command.Pack(batchOf("one", "two"))
	if _, err := command.CheckEntry(entry); err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(entry) {
		damaged := bytes.Clone(entry)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, err := command.CheckEntry(damaged); agent.CodeOf(err) != agent.CodeCorrupt {
			t.Errorf("bit %d flipped: %v", bit, err)
		}
	}
	for n := range entry {
		if _, err := command.CheckEntry(entry[:n]); err == nil {
			t.Errorf("cut to %d bytes: not found", n)
		}
	}
}

// resealed returns the entry with a recomputed checksum.
func resealed(entry []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(crc32.Checksum(entry[:4], table), table, entry[command.FrameBytes:])
	binary.LittleEndian.PutUint32(entry[4:], crc)
	return entry
}

func TestANewerEntryIsToldFromADamagedOne(t *testing.T) {
	for name, change := range map[string]func(entry []byte) []byte{
		"format": func(e []byte) []byte { e[2]++; return e },
		"flags":  func(e []byte) []byte { e[3] = 1; return e },
	} {
		newer := resealed(change(command.Pack(batchOf("one"))))
		if _, err := command.CheckEntry(newer); err != nil {
			t.Errorf("%s: a newer entry does not pass the check: %v", name, err)
		}
		if _, _, err := command.Unpack(newer); err == nil || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("%s: %v", name, err)
		}
	}
	unknown := resealed(append(command.Pack(batchOf("one")), 0x30, 0x01)) // field 6
	if _, _, err := command.Unpack(unknown); err == nil {
		t.Error("a batch with an unknown field was unpacked")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(command.Pack(batchOf("one", "two")), true)
	f.Add(command.Pack(&logpb.Batch{}), false)
	f.Add([]byte("\xd0\x5e\x01\x00????\x2a\xff"), true)
	f.Fuzz(func(t *testing.T, entry []byte, reseal bool) {
		if reseal && len(entry) >= command.FrameBytes {
			binary.BigEndian.PutUint16(entry, 0xd05e)
			entry[2], entry[3] = 1, 0
			entry = resealed(entry)
		}
		b, _, err := command.Unpack(entry)
		if err != nil {
			return
		}
		plain := &logpb.Batch{}
		if err := proto.Unmarshal(entry[command.FrameBytes:], plain); err != nil {
			t.Fatalf("protobuf does not take it: %v", err)
		}
		if !proto.Equal(b, plain) {
			t.Fatalf("unpacked %v, protobuf says %v", b, plain)
		}
		again, _, err := command.Unpack(command.Pack(b))
		if err != nil || !proto.Equal(again, b) {
			t.Fatalf("packed again: %v %v", again, err)
		}
	})
}

// benchCommits returns appends of one entry with 1 KiB of payload.
func benchCommits(n int) []agent.Commit {
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte('a' + rng.IntN(26))
	}
	commits := make([]agent.Commit, n)
	for i := range commits {
		rev := uint64(i)
		commits[i] = agent.Commit{
			Scope: "default", Request: agent.Request{Client: "client-0123456789", Seq: uint64(i + 1), Low: uint64(i)},
			Ops: []agent.Op{&agent.AppendThread{
				Thread: fmt.Sprintf("conversation-%06d", i), ExpectedRev: &rev,
				Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: fmt.Appendf(nil, `{"role":"user","content":%q}`, text)}},
			}},
		}
	}
	return commits
}

func encodeAll(tb testing.TB, commits []agent.Commit) [][]byte {
	tb.Helper()
	out := make([][]byte, len(commits))
	for i := range commits {
		var err error
		if out[i], err = command.EncodeCommit(&commits[i], 1<<40); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

func BenchmarkEncodeCommit1KiB(b *testing.B) {
	commits := benchCommits(1)
	b.ReportAllocs()
	b.SetBytes(1024)
	for b.Loop() {
		if _, err := command.EncodeCommit(&commits[0], 1<<40); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeCommit1KiB(b *testing.B) {
	raw := encodeAll(b, benchCommits(1))[0]
	b.ReportAllocs()
	b.SetBytes(1024)
	for b.Loop() {
		if _, _, err := command.DecodeCommit(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPack256Of1KiB(b *testing.B) {
	batch := &logpb.Batch{TickMs: 1 << 40, WallMs: 1 << 40, AuditIndex: 1 << 20, AuditChain: 1, Commits: encodeAll(b, benchCommits(256))}
	b.ReportAllocs()
	b.SetBytes(256 * 1024)
	for b.Loop() {
		command.Pack(batch)
	}
}

func BenchmarkUnpack256Of1KiB(b *testing.B) {
	entry := command.Pack(&logpb.Batch{TickMs: 1 << 40, WallMs: 1 << 40, Commits: encodeAll(b, benchCommits(256))})
	b.ReportAllocs()
	b.SetBytes(256 * 1024)
	for b.Loop() {
		if _, _, err := command.Unpack(entry); err != nil {
			b.Fatal(err)
		}
	}
}
