package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/audit"
)

// newLog returns the directory of a log with several files, which is whole.
func newLog(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "audit")
	s := open(tb, options(dir))
	s.fill(40)
	s.end()
	report := good(tb, dir)
	if report.Files < 3 || report.Lines < 40 || !report.Keyed || report.Last != report.Lines || report.First != 1 {
		tb.Fatalf("%+v", report)
	}
	return dir
}

// Each way to tamper with a log is found, and the first bad line is named.
func TestTamperingIsFound(t *testing.T) {
	edit := func(file, line int, change func(text string) string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			path := files(t, dir)[file]
			all := lines(t, path)
			all[line] = change(all[line])
			write(t, path, strings.Join(all, ""))
		}
	}
	cut := func(file, bytes int) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			paths := files(t, dir)
			path := paths[(file+len(paths))%len(paths)]
			text := read(t, path)
			write(t, path, text[:len(text)-bytes])
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		file int // whose name the fault has; -1 is the head
		line int
		says string
	}{
		"a changed line": {edit(1, 3, func(s string) string { return strings.Replace(s, "key", "kay", 1) }), 1, 4, "hash is wrong"},
		"a line removed": {edit(1, 3, func(string) string { return "" }), 1, 4, "lines are missing"},
		"a line twice":   {edit(1, 3, func(s string) string { return s + s }), 1, 5, "order"},
		"an empty line":  {edit(1, 3, func(s string) string { return "\n" + s }), 1, 4, "not a record"},
		"two lines swapped": {func(t *testing.T, dir string) {
			t.Helper()
			path := files(t, dir)[0]
			all := lines(t, path)
			all[2], all[3] = all[3], all[2]
			write(t, path, strings.Join(all, ""))
		}, 0, 3, "order"},
		"a file removed": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(files(t, dir)[1]); err != nil {
				t.Fatal(err)
			}
		}, 1, 0, "missing"},
		"the first file removed": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(files(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
		}, 0, 0, "must begin with line 1"},
		"all files but the last removed, which has the first one's name": {func(t *testing.T, dir string) {
			t.Helper()
			all := files(t, dir)
			last := len(all) - 1
			for _, path := range all[:last] {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Rename(all[last], all[0]); err != nil {
				t.Fatal(err)
			}
		}, 0, 0, "its name says 1"},
		"the last file removed": {func(t *testing.T, dir string) {
			t.Helper()
			all := files(t, dir)
			if err := os.Remove(all[len(all)-1]); err != nil {
				t.Fatal(err)
			}
		}, -1, 0, "at the end are missing"},
		"all files removed": {func(t *testing.T, dir string) {
			t.Helper()
			for _, path := range files(t, dir) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}, -1, 0, "at the end are missing"},
		"the beginning of a file removed":   {edit(1, 0, func(string) string { return "" }), 1, 1, "beginning of the file is missing"},
		"a part of the last line removed":   {cut(-1, 5), -1, 0, "at the end are missing"},
		"a part of a line in a file before": {cut(1, 5), 1, 0, ""},
		"the head removed": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "head")); err != nil {
				t.Fatal(err)
			}
		}, -1, 0, "the file is missing"},
		"the head emptied": {func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, "head"), "") }, -1, 0, "damaged"},
		"the mac removed":  {edit(0, 2, func(s string) string { return s[:strings.Index(s, `,"mac"`)] + "}\n" }), 0, 3, "mac is wrong"},
		"a mac of another": {edit(0, 2, func(s string) string { return s[:len(s)-10] + "0123456" + s[len(s)-3:] }), 0, 3, "mac is wrong"},
		"a hash in capitals": {edit(0, 2, func(s string) string {
			at := strings.Index(s, `"hash":"`) + 8
			return s[:at] + strings.ToUpper(s[at:at+64]) + s[at+64:]
		}), 0, 3, "not a record"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newLog(t)
			named := "head"
			if all := files(t, dir); c.file >= 0 {
				named = filepath.Base(all[c.file])
			}
			c.do(t, dir)
			fault := verify(t, dir).Fault
			if name == "a file removed" {
				named = filepath.Base(files(t, dir)[1]) // the one after it
			}
			if name == "the first file removed" {
				named = filepath.Base(files(t, dir)[0])
			}
			if fault == nil || fault.File != named || c.line != 0 && fault.Line != c.line || !strings.Contains(fault.Reason, c.says) {
				t.Fatalf("%+v, want %s line %d: %s", fault, named, c.line, c.says)
			}
		})
	}
}

// A log that was written again without the key has a whole chain of hashes. Only the macs tell.
func TestALogWithoutTheKeyIsFoundByItsMacs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.Key, o.KeyID = []byte("another key of thirty-two bytes."), "k1"
	s := open(t, o)
	s.fill(3)
	s.end()
	if report, err := audit.Verify(dir, nil); err != nil || report.Fault != nil || report.Keyed {
		t.Fatalf("without a key: %+v, %v", report, err)
	}
	if fault := verify(t, dir).Fault; fault == nil || !strings.Contains(fault.Reason, "mac is wrong") {
		t.Fatal(fault)
	}
	if report, err := audit.Verify(dir, audit.Keys{"other": key}); err != nil || report.Fault == nil || !strings.Contains(report.Fault.Reason, `no key has the id "k1"`) {
		t.Fatalf("%+v, %v", report.Fault, err)
	}
}

// One file can be checked alone, with its beginning, and without what follows it.
func TestOneFileIsVerifiedAlone(t *testing.T) {
	dir := newLog(t)
	path := files(t, dir)[1]
	report := good(t, path)
	if report.Files != 1 || report.First <= 1 {
		t.Fatalf("%+v", report)
	}
	text := read(t, path)
	write(t, path, text[:len(text)-5])
	if fault := verify(t, path).Fault; fault == nil || !strings.Contains(fault.Reason, "unfinished") {
		t.Fatal(fault)
	}
	if _, err := audit.Verify(t.TempDir(), keys); err == nil || !strings.Contains(err.Error(), "holds no audit log") {
		t.Error(err)
	}
}

// No change of any byte, of a file or of the head, goes unnoticed.
func TestNoChangedByteGoesUnnoticed(t *testing.T) {
	dir := newLog(t)
	paths := append(files(t, dir), filepath.Join(dir, "head"))
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom(paths).Draw(rt, "file")
		whole := read(t, path)
		raw := []byte(whole)
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			at := rapid.IntRange(0, len(raw)-1).Draw(rt, "at")
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				raw[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			case 1:
				raw = append(raw[:at], raw[at+1:]...)
			default:
				raw = append(raw[:at], append([]byte{rapid.Byte().Draw(rt, "byte")}, raw[at:]...)...)
			}
			if len(raw) == 0 {
				break
			}
		}
		if string(raw) == whole {
			return // two changes undid each other
		}
		write(t, path, string(raw))
		defer write(t, path, whole)
		report, err := audit.Verify(dir, keys)
		if err == nil && report.Fault == nil {
			rt.Fatalf("a change of %s is not found", filepath.Base(path))
		}
	})
	good(t, dir)
}
