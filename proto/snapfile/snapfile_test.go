package snapfile_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"dormouse/proto/snapfile"
)

var contents = []string{"first file", "", "third file"}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// stream writes a snapshot of contents, and tells where its files begin.
func stream(t *testing.T, format uint32) (whole []byte, filesAt int) {
	t.Helper()
	header := &snapfile.SnapshotHeader{Format: format, ClusterId: "c1", Index: 42, Term: 3}
	for i, content := range contents {
		header.Files = append(header.Files, &snapfile.SnapshotFile{
			Name: string(rune('a' + i)), Size: uint64(len(content)), Crc32C: crc([]byte(content)),
		})
	}
	raw, err := proto.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	whole = []byte("DORMSNP\n")
	whole = binary.BigEndian.AppendUint32(whole, uint32(len(raw)))
	whole = binary.BigEndian.AppendUint32(whole, crc(raw))
	whole = append(whole, raw...)
	filesAt = len(whole)
	whole = append(whole, strings.Join(contents, "")...)
	return append(whole, "DORMEND\n"...), filesAt
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAWholeStreamIsToldFromADamagedOne(t *testing.T) {
	whole, filesAt := stream(t, 1)
	flipped := bytes.Clone(whole)
	flipped[filesAt] ^= 1
	for _, test := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"whole", whole, ""},
		{"a flipped bit", flipped, "a does not match its checksum"},
		{"cut inside of a file", whole[:filesAt+3], "ends inside of a"},
		{"no end mark", whole[:len(whole)-8], "end mark is missing"},
		{"more than it says", append(bytes.Clone(whole), 'x'), "something follows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			info, err := snapfile.Inspect(write(t, test.content))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(info.Damages, "; "); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("damages %q, want %q", got, test.want)
			}
			if info.Header.GetIndex() != 42 || info.Header.GetClusterId() != "c1" || info.Bytes != 20 {
				t.Errorf("got %v, %d bytes", info.Header, info.Bytes)
			}
		})
	}
}

func TestWhatIsNoSnapshotIsRefused(t *testing.T) {
	whole, filesAt := stream(t, 1)
	newer, _ := stream(t, 2)
	badHeader := bytes.Clone(whole)
	badHeader[20] ^= 1
	long := bytes.Clone(whole)
	long[8] = 0xff
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":            {nil, "no Dormouse snapshot"},
		"something else":   {[]byte(strings.Repeat("x", 100)), "no Dormouse snapshot"},
		"a damaged header": {badHeader, "header is damaged"},
		"a cut header":     {whole[:filesAt-1], "header is damaged"},
		"a huge header":    {long, "more than"},
		"a newer format":   {newer, "format 2"},
	} {
		if _, err := snapfile.Inspect(write(t, test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func TestADirectoryOfASnapshotStoreIsRead(t *testing.T) {
	whole, filesAt := stream(t, 1)
	store := t.TempDir()
	dir := filepath.Join(store, "00000001")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"HEADER": whole[:filesAt]}
	for i, content := range contents {
		files[filepath.Join("data", string(rune('a'+i)))] = []byte(content)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	info, err := snapfile.Inspect(dir)
	if err != nil || len(info.Damages) > 0 || info.Header.GetIndex() != 42 {
		t.Fatalf("got %+v, %v", info, err)
	}
	if _, err := snapfile.Inspect(store); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a store of snapshots: %v, want the name of one", err)
	}
	if err := os.Remove(filepath.Join(dir, "data", "c")); err != nil {
		t.Fatal(err)
	}
	info, err = snapfile.Inspect(dir)
	if err != nil || len(info.Damages) != 1 || info.Damages[0] != "c is missing" {
		t.Errorf("got %+v, %v, want that c is missing", info, err)
	}
}

func FuzzReadHeaderNeverPanics(f *testing.F) {
	f.Add([]byte("DORMSNP\n\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, content []byte) {
		header, err := snapfile.ReadHeader(bytes.NewReader(content))
		if err == nil && header == nil {
			panic("neither a header nor an error")
		}
	})
}
