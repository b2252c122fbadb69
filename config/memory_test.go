package config_test

import "testing"

// A size is a number with a unit, in powers of 1,024 or of 1,000, or a number of bytes. A file and the
// environment write it alike.
func TestMemoryIsASize(t *testing.T) {
	for text, want := range map[string]int64{
		"64MiB": 64 << 20, "512MiB": 512 << 20, "512 mib": 512 << 20, "2GiB": 2 << 30, "1.5GiB": 3 << 29, "2GB": 2_000_000_000,
		"67108864": 64 << 20, "64TiB": 64 << 40,
	} {
		for source, s := range map[string]sources{
			"file":        {yaml: "node: {id: n1}\nstorage: {memory: " + text + "}\n"},
			"environment": {env: []string{"DORMOUSE_NODE__ID=n1", "DORMOUSE_STORAGE__MEMORY=" + text}},
		} {
			c, err := load(t, s)
			if err != nil || c.Storage.MemoryBytes() != want {
				t.Errorf("%s, %s: %d bytes, %v; want %d", text, source, c.Storage.MemoryBytes(), err, want)
			}
		}
	}
	if c, err := load(t, sources{env: []string{"DORMOUSE_NODE__ID=n1"}}); err != nil || c.Storage.MemoryBytes() != 0 {
		t.Errorf("without the setting: %d bytes, %v", c.Storage.MemoryBytes(), err)
	}
}
