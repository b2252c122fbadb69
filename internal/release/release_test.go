package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testBinary copies this test's binary, which links what the command links, into a
// directory of its own.
func testBinary(t *testing.T) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "dormouse-v1.0.0-test")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dormoused"), raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNoticeAndSBOMNameEachLinkedModule(t *testing.T) {
	dir := testBinary(t)
	linked, err := linkedInto(t.Context(), "../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(filepath.Join(dir, "dormoused"))
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("the binary links %v: %v", info, err)
	}
	notice, sbom := filepath.Join(dir, "NOTICE"), filepath.Join(dir, "sbom.cdx.json")
	if err := writeNotice(t.Context(), notice, linked); err != nil {
		t.Fatal(err)
	}
	if err := writeSBOM(sbom, "v1.0.0", linked); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(notice)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(sbom)
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(raw, &bom); err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]string)
	for _, c := range bom.Components {
		listed[c.Name] = c.Version
	}
	for _, dep := range info.Deps {
		if !bytes.Contains(text, []byte("\n"+dep.Path+" "+dep.Version+"\n")) {
			t.Errorf("NOTICE lacks %s %s", dep.Path, dep.Version)
		}
		if listed[dep.Path] != dep.Version {
			t.Errorf("the bill of materials has %s at %q, want %q", dep.Path, listed[dep.Path], dep.Version)
		}
	}
	if listed["std"] == "" || !bytes.Contains(text, []byte("The Go Authors")) {
		t.Error("Go itself is missing")
	}
}

func TestArchivesOfTheSameFilesAreEqual(t *testing.T) {
	var archives [][]byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "dormouse-v1.0.0-linux-amd64")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"dormoused", "LICENSE"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path, err := archive(dir)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, raw)
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same files differ")
	}
}

func TestAModuleWithoutALicenceStopsTheRelease(t *testing.T) {
	err := writeNotice(t.Context(), filepath.Join(t.TempDir(), "NOTICE"), []module{{Path: "example.com/m", Version: "v1.0.0", Dir: t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), "example.com/m") {
		t.Errorf("%v; want an error that names the module", err)
	}
}

func TestAReleaseNeedsAVersionAndAnEmptyDirectory(t *testing.T) {
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ version, out, want string }{
		{"1.2", t.TempDir(), "v1.2.3"},
		{"", t.TempDir(), "v1.2.3"},
		{"v1.2.3", used, "holds files"},
	} {
		if err := release(t.Context(), c.version, c.out, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("version %q: %v; want %q", c.version, err, c.want)
		}
	}
}
