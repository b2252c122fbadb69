package rest

import (
	"net/http"

	"dormouse/agent"
)

// file is a file without its bytes.
type file struct {
	Path        string   `json:"path"`
	Incarnation uint64   `json:"incarnation"`
	Revision    uint64   `json:"revision"`
	Bytes       uint64   `json:"bytes"`
	ContentType string   `json:"content_type,omitzero"`
	Metadata    document `json:"metadata"`
	UpdatedAt   int64    `json:"updated_at"`
	ExpiresAt   int64    `json:"expires_at,omitzero"`
}

func fileOf(r agent.ValueRow) file {
	path, _ := agent.FilePath(r.Key)
	return file{
		Path: path, Incarnation: r.Incarnation, Revision: r.Revision, Bytes: r.Size, ContentType: r.ContentType,
		Metadata: document(r.Metadata), UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
}

// fileStamp answers a write of a file.
type fileStamp struct {
	Path        string `json:"path"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

func fileStampOf(r *agent.ValueResult) fileStamp {
	path, _ := agent.FilePath(r.Key)
	return fileStamp{Path: path, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

// describeBody changes what is known of a value beside its bytes.
type describeBody struct {
	ContentType   string   `json:"content_type,omitempty" doc:"Keeps it where absent"`
	Metadata      document `json:"metadata,omitempty" doc:"A merge patch (RFC 7396)"`
	IfRevision    *uint64  `json:"if_revision,omitempty"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

type moveBody struct {
	To string `json:"to" doc:"The path to move it to, where there must be none"`
	describeBody
}

// reviseValueOp revises a value within a commit; files are values.
type reviseValueOp struct {
	opName
	Key string `json:"key"`
	To  string `json:"to,omitempty" doc:"The key to move it to, where there must be none"`
	describeBody
}

func (o *reviseValueOp) op() (agent.Op, error) { return o.revise(o.Key, o.To, o.IfRevision), nil }

func (b *describeBody) revise(key, to string, revision *uint64) *agent.ReviseValue {
	return &agent.ReviseValue{
		Key: key, To: to, ContentType: b.ContentType, Metadata: agent.JSON(b.Metadata), IfRevision: revision, IfIncarnation: b.IfIncarnation,
	}
}

func (f *front) routeFiles() {
	const tag, one = "files", "/v1/files/{path}"
	register(f, route{
		method: http.MethodPut, path: one, id: "write-file", tag: tag, summary: "Write a file: the body, byte for byte, with its type; the path is percent-encoded",
		effect: writes, condition: "if_revision", query: []string{"ttl_ms", "if_revision", "if_incarnation"},
		accepts: []string{anyMedia}, creates: true, answers: fileStamp{},
	}, (*call).writeFile)
	register(f, route{
		method: http.MethodGet, path: one, id: "read-file", tag: tag, summary: "Read a file as it was written",
		effect: reads, media: anyMedia,
	}, (*call).readFile)
	register(f, route{
		method: http.MethodGet, path: one + "/metadata", id: "file-metadata", tag: tag, summary: "Read what is known of a file beside its bytes",
		effect: reads, answers: file{},
	}, (*call).fileMetadata)
	register(f, route{
		method: http.MethodPatch, path: one + "/metadata", id: "describe-file", tag: tag, summary: "Change a file's content type or metadata, and not its bytes",
		effect: writes, condition: "if_revision", bodyNeeded: true, answers: fileStamp{},
	}, func(c *call, body *describeBody) error { return c.reviseFile("", body) })
	register(f, route{
		method: http.MethodPost, path: one + "/move", id: "move-file", tag: tag, summary: "Move a file, all at once",
		effect: writes, condition: "if_revision", bodyNeeded: true, answers: fileStamp{},
	}, func(c *call, body *moveBody) error {
		to, err := agent.FileKey(body.To)
		if err != nil {
			return err
		}
		return c.reviseFile(to, &body.describeBody)
	})
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-file", tag: tag, summary: "Delete a file",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteFile)
	register(f, route{
		method: http.MethodGet, path: "/v1/files", id: "list-files", tag: tag, summary: "List files in order of paths",
		effect: reads, query: listQuery, answers: list[file]{},
	}, (*call).listFiles)
}

// fileKey is the key of the file that the path names; a bad path is the call's
// fault.
func (c *call) fileKey() string {
	key, err := agent.FileKey(c.id("path"))
	if err != nil {
		c.fail(err)
	}
	return key
}

func (c *call) writeFile(*none) error {
	key := c.fileKey()
	stamp, err := c.putBody(key)
	if err != nil {
		return err
	}
	return c.answerFile(stamp, stamp.Revision == 1)
}

// answerFile answers a write; made tells that the file is new.
func (c *call) answerFile(stamp *agent.ValueResult, made bool) error {
	path, _ := agent.FilePath(stamp.Key)
	a := reply{revision: &stamp.Revision, body: fileStampOf(stamp)}
	if made {
		a.location = location("files", path)
	}
	return c.answer(a)
}

func (c *call) readFile(*none) error { return c.sendValue(c.fileKey()) }

func (c *call) fileMetadata(*none) error {
	v, err := read[*agent.Value](c, &agent.GetValue{Key: c.fileKey()})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &v.Revision, body: fileOf(agent.ValueRow{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Size: uint64(len(v.Bytes)),
		Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	})})
}

func (c *call) reviseFile(to string, body *describeBody) error {
	result, err := c.commit(body.revise(c.fileKey(), to, c.conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.ValueResult](result, 0)
	if err != nil {
		return err
	}
	return c.answerFile(stamp, false)
}

func (c *call) deleteFile(*none) error { return c.removeValue(c.fileKey()) }

func (c *call) listFiles(*none) error {
	page := c.page()
	page.Prefix = agent.FilePrefix(page.Prefix)
	if page.After != "" {
		page.After = agent.FilePrefix(page.After)
	}
	found, err := read[*agent.ValueList](c, &agent.ListValues{Page: page})
	if err != nil {
		return err
	}
	next, _ := agent.FilePath(found.Next)
	return c.answer(reply{body: listOf(found.Items, next, fileOf)})
}
