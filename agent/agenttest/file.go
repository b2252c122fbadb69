package agenttest

import (
	"strings"
	"time"

	"dormouse/agent"
)

// fileKey returns the key of a file with a valid path.
func fileKey(path string) string {
	key, err := agent.FileKey(path)
	if err != nil {
		panic(err)
	}
	return key
}

// files returns the paths below a directory.
func (k *kit) files(prefix string) string {
	k.Helper()
	var paths []string
	for _, row := range find[*agent.ValueList](k, &agent.ListValues{Page: agent.Page{Prefix: agent.FilePrefix(prefix)}}).Items {
		path, ok := agent.FilePath(row.Key)
		if !ok {
			k.Fatalf("%q is not a file", row.Key)
		}
		paths = append(paths, path)
	}
	return strings.Join(paths, " ")
}

var fileClaims = []claim{
	{"SG-9_files_are_listed_by_path", func(k *kit) {
		for _, path := range []string{"/b", "/a/y", "/a.md", "/a/x", "/ü/茶"} {
			k.commit(&agent.PutValue{Key: fileKey(path), Bytes: []byte(path)})
		}
		k.commit(&agent.PutValue{Key: "other"})
		k.equal("all", k.files(""), "/a.md /a/x /a/y /b /ü/茶")
		k.equal("a directory", k.files("/a/"), "/a/x /a/y")
		k.equal("in another scope", k.in(newName("scope")).files(""), "")
	}},

	{"SG-9_a_file_moves_whole", func(k *kit) {
		from, to := fileKey("/draft.md"), fileKey("/done/draft.md")
		bytes := []byte{0, 0xff, '\r', '\n', 0}
		made := k.commit(&agent.PutValue{Key: from, ContentType: "text/markdown", Bytes: bytes, Metadata: agent.JSON(`{"z":1,"a":2}`), TTL: time.Hour})
		first := find[*agent.Value](k, &agent.GetValue{Key: from})
		moved := k.commit(&agent.ReviseValue{Key: from, To: to, IfRevision: ptr(uint64(1))})
		k.lacks(agent.CodeNotFound, &agent.GetValue{Key: from})
		got := find[*agent.Value](k, &agent.GetValue{Key: to})
		k.equal("file", got, &agent.Value{
			Key: to, Incarnation: got.Incarnation, Revision: 1, ContentType: "text/markdown", Bytes: bytes, Metadata: agent.JSON(`{"z":1,"a":2}`),
			CreatedAt: made.Time, UpdatedAt: moved.Time, ExpiresAt: first.ExpiresAt,
		})
		k.equal("listed", k.files(""), "/done/draft.md")
		if got.Incarnation == first.Incarnation {
			k.Fatal("it kept its incarnation")
		}
		k.refuse(agent.CodeDeleted, 0, &agent.PutValue{Key: from, IfIncarnation: first.Incarnation}) // a late write
	}},

	{"a_move_that_cannot_be_leaves_everything", func(k *kit) {
		a, b := fileKey("/a"), fileKey("/b")
		k.refuse(agent.CodeNotFound, 0, &agent.ReviseValue{Key: a, To: b})
		k.commit(&agent.PutValue{Key: a, Bytes: []byte("a")}, &agent.PutValue{Key: b, Bytes: []byte("b")})
		if e := k.refuse(agent.CodeAlreadyExists, 0, &agent.ReviseValue{Key: a, To: b}); e.Revision != 1 {
			k.Fatalf("refused with %+v", e)
		}
		k.refuse(agent.CodeRevisionMismatch, 0, &agent.ReviseValue{Key: a, To: fileKey("/c"), IfRevision: ptr(uint64(2))})
		k.refuse(agent.CodeAlreadyExists, 1, &agent.ReviseValue{Key: a, To: fileKey("/c")}, &agent.ReviseValue{Key: fileKey("/c"), To: b})
		k.equal("files", k.files(""), "/a /b")
		k.commit(&agent.DeleteValue{Key: b, Seal: time.Hour})
		k.refuse(agent.CodeDeleted, 0, &agent.ReviseValue{Key: a, To: b})
		k.equal("file", string(find[*agent.Value](k, &agent.GetValue{Key: a}).Bytes), "a")
	}},

	{"the_metadata_of_a_file", func(k *kit) {
		key := fileKey("/a")
		k.commit(&agent.PutValue{Key: key, ContentType: "text/plain", Bytes: []byte("1"), Metadata: agent.JSON(`{"title":"A","n":1}`)})
		k.commit(&agent.ReviseValue{Key: key, ContentType: "text/markdown", Metadata: agent.JSON(`{"n":null,"read_only":true}`)})
		k.commit(&agent.PutValue{Key: key, ContentType: "text/markdown", Bytes: []byte("2")}) // keeps the metadata
		got := find[*agent.Value](k, &agent.GetValue{Key: key})
		k.equal("file", []any{string(got.Bytes), got.ContentType, string(got.Metadata), got.Revision},
			[]any{"2", "text/markdown", `{"title":"A","read_only":true}`, uint64(3)})
		row := find[*agent.ValueList](k, &agent.ListValues{}).Items[0]
		k.equal("listed", []any{string(row.Metadata), row.Size}, []any{`{"title":"A","read_only":true}`, uint64(1)})
		k.commit(&agent.PutValue{Key: key, Metadata: agent.JSON(`{}`)})
		k.equal("cleared", string(find[*agent.Value](k, &agent.GetValue{Key: key}).Metadata), `{}`)
		big := agent.JSON(`{"big":"` + strings.Repeat("x", agent.MetadataBytesMax-20) + `"}`)
		k.commit(&agent.ReviseValue{Key: key, Metadata: big})
		k.refuse(agent.CodeTooLarge, 0, &agent.ReviseValue{Key: key, Metadata: agent.JSON(`{"one more":"that is too much"}`)})
	}},

	{"a_path_that_escapes_is_refused", func(k *kit) {
		k.commit(&agent.PutValue{Key: fileKey("/a"), Bytes: []byte("a")})
		for _, path := range []string{"/", "/..", "/../etc/passwd", "/a/../b", "/a/./b", "/.", "//a", "/a//b", "/a/", "/a\x00b", "/\xff"} {
			key := "file:" + path
			k.refuseInvalid(agent.CodeInvalid, 0, "key", &agent.PutValue{Key: key})
			k.refuseInvalid(agent.CodeInvalid, 0, "to", &agent.ReviseValue{Key: fileKey("/a"), To: key})
			if _, err := agent.FileKey(path); agent.CodeOf(err) != agent.CodeInvalid {
				k.Fatalf("the path %q: %v", path, err)
			}
		}
		for _, path := range []string{"", "a", "../a", "./a", `\a`} {
			if _, err := agent.FileKey(path); agent.CodeOf(err) != agent.CodeInvalid {
				k.Fatalf("the path %q: %v", path, err)
			}
		}
		long := "/" + strings.Repeat("x", agent.FilePathBytesMax-1)
		k.commit(&agent.PutValue{Key: fileKey(long)})
		if _, err := agent.FileKey(long + "x"); agent.CodeOf(err) != agent.CodeTooLarge {
			k.Fatalf("a path that is too long: %v", err)
		}
		k.refuseInvalid(agent.CodeInvalid, 0, "to", &agent.ReviseValue{Key: "v"})
		k.refuseInvalid(agent.CodeInvalid, 0, "to", &agent.ReviseValue{Key: "v", To: "v"})
		k.refuseInvalid(agent.CodeInvalid, 0, "metadata", &agent.ReviseValue{Key: "v", Metadata: agent.JSON(`[]`)})
	}},
}
