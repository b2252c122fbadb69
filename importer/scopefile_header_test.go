package importer_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/importer"
)

// TestEveryFieldOfAPolicyIsInTheFile sets one field of a policy after the other. Each must be read back, and a scope
// without it must differ from the file.
func TestEveryFieldOfAPolicyIsInTheFile(t *testing.T) {
	for i := range reflect.TypeFor[agent.Policy]().NumField() {
		name := reflect.TypeFor[agent.Policy]().Field(i).Name
		s := &rowStore{Store: memstore.New()}
		reflect.ValueOf(&s.policy).Elem().Field(i).SetUint(uint64(100 + i))
		var file bytes.Buffer
		if _, err := importer.ExportScope(t.Context(), s, &file, importer.ScopeOptions{}); err != nil {
			t.Fatal(err)
		}
		summary, err := importer.CheckScopeFile(openerOf(file.Bytes()))
		if err != nil || agent.Policy(summary.Header.Policy) != s.policy {
			t.Errorf("%s: the file has %+v, %v", name, summary.Header.Policy, err)
		}
		if d := scopeDiffers(t, s, file.Bytes()); d.Count != 0 {
			t.Errorf("%s: the scope differs from its file: %+v", name, d)
		}
		if d := scopeDiffers(t, &rowStore{Store: memstore.New()}, file.Bytes()); d.Count != 1 || !strings.Contains(d.First[0], "policy: ") {
			t.Errorf("%s: a scope without it: %+v", name, d)
		}
	}
}

func scopeDiffers(t *testing.T, s *rowStore, file []byte) importer.Differences {
	t.Helper()
	summary, err := importer.VerifyScope(t.Context(), s, openerOf(file), importer.ScopeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return summary.Differences
}

func TestOwnPolicyAndMetadataKeysAreInTheFile(t *testing.T) {
	s := &rowStore{Store: memstore.New(), own: true, declared: []string{"env", "team"}}
	var file bytes.Buffer
	if _, err := importer.ExportScope(t.Context(), s, &file, importer.ScopeOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := scopeDiffers(t, s, file.Bytes()); d.Count != 0 {
		t.Errorf("the scope differs from its file: %+v", d)
	}
	d := scopeDiffers(t, &rowStore{Store: memstore.New()}, file.Bytes())
	if d.Count != 2 || !strings.Contains(d.First[0], "own_policy is false, and true") || !strings.Contains(d.First[1], `["env" "team"] in the file`) {
		t.Errorf("a scope without either: %+v", d)
	}
}

// TestAFileOfAnEarlierVersionIsRead reads a file whose header has the members of earlier versions only.
func TestAFileOfAnEarlierVersionIsRead(t *testing.T) {
	header := `{"format":1,"row_format":1,"cluster_id":"c","scope":"acme","index":7,"minted":8,"feature_level":1,"time_ms":0,"keys":2,"bytes":0,"created_at":0,` +
		`"policy":{"bytes_max":0,"changes_max":0,"history":7,"history_age_ms":0,"keys_max":9,"memories_max":0,"memory_bytes_max":0}}`
	empty := scopeFile(t)
	file := append([]byte("DORMSCP\n"), frame(1, header)...)
	file = append(file, empty[bytes.LastIndex(empty, frame(3, footerOf(t, empty))):]...)
	summary, err := importer.CheckScopeFile(openerOf(file))
	if err != nil || agent.Policy(summary.Header.Policy) != (agent.Policy{History: 7, KeysMax: 9}) || summary.Header.OwnPolicy || summary.Header.MetadataKeys != nil {
		t.Fatalf("%+v, %v", summary.Header, err)
	}
	if d := scopeDiffers(t, &rowStore{Store: memstore.New(), policy: agent.Policy{History: 7, KeysMax: 9}}, file); d.Count != 0 {
		t.Errorf("%+v", d)
	}
}

// footerOf returns the JSON of the footer of a file.
func footerOf(t *testing.T, file []byte) string {
	t.Helper()
	return string(file[bytes.LastIndexByte(file, '{'):])
}

// frame returns a frame of a scope file.
func frame(kind byte, payload string) []byte {
	prefix := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	crc := crc32.Checksum(append(bytes.Clone(prefix), payload...), crc32.MakeTable(crc32.Castagnoli))
	return append(binary.BigEndian.AppendUint32(prefix, crc), payload...)
}
