package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func (f *api) routeFiles() {
	const tag, one = "files", "/v1/files/{path}"
	register(f, route{
		method: http.MethodPut, path: one, id: "write-file", tag: tag, summary: "Write a file: the body, byte for byte, with its type; the path is percent-encoded",
		effect: writes, condition: "if_revision", query: []string{"ttl_ms", "if_revision", "if_incarnation"},
		accepts: []string{anyMedia}, creates: true, answers: document.FileStamp{},
	}, (*request).writeFile)
	register(f, route{
		method: http.MethodGet, path: one, id: "read-file", tag: tag, summary: "Read a file as it was written",
		effect: reads, media: anyMedia,
	}, (*request).readFile)
	register(f, route{
		method: http.MethodGet, path: one + "/metadata", id: "file-metadata", tag: tag, summary: "Read the metadata of a file",
		effect: reads, answers: document.File{},
	}, (*request).fileMetadata)
	register(f, route{
		method: http.MethodPatch, path: one + "/metadata", id: "describe-file", tag: tag, summary: "Change a file's content type or metadata, but not its bytes",
		effect: writes, condition: "if_revision", bodyNeeded: true, answers: document.FileStamp{},
	}, func(c *request, body *document.DescribeBody) error { return c.reviseFile("", body) })
	register(f, route{
		method: http.MethodPost, path: one + "/move", id: "move-file", tag: tag, summary: "Move a file atomically",
		effect: writes, condition: "if_revision", bodyNeeded: true, answers: document.FileStamp{},
	}, func(c *request, body *document.MoveBody) error {
		to, err := agent.FileKey(body.To)
		if err != nil {
			return err
		}
		return c.reviseFile(to, &body.DescribeBody)
	})
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-file", tag: tag, summary: "Delete a file",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*request).deleteFile)
	register(f, route{
		method: http.MethodGet, path: "/v1/files", id: "list-files", tag: tag, summary: "List files in order of paths",
		effect: reads, query: listQuery, answers: document.List[document.File]{},
	}, (*request).listFiles)
}

// fileKey returns the key of the file in the path. An invalid path makes the request fail.
func (c *request) fileKey() string {
	key, err := agent.FileKey(c.id("path"))
	if err != nil {
		c.fail(err)
	}
	return key
}

func (c *request) writeFile(*none) error {
	key := c.fileKey()
	stamp, err := c.putBody(key)
	if err != nil {
		return err
	}
	return c.answerFile(stamp, stamp.Revision == 1)
}

// answerFile answers a write; made reports that the file is new.
func (c *request) answerFile(stamp *agent.ValueResult, made bool) error {
	path, _ := agent.FilePath(stamp.Key)
	a := reply{revision: &stamp.Revision, body: document.FileStampOf(stamp)}
	if made {
		a.location = location("files", path)
	}
	return c.answer(a)
}

func (c *request) readFile(*none) error { return c.sendValue(c.fileKey()) }

func (c *request) fileMetadata(*none) error {
	v, err := read[*agent.Value](c, &agent.GetValue{Key: c.fileKey()})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &v.Revision, body: document.FileOf(agent.ValueRow{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Size: uint64(len(v.Bytes)),
		Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	})})
}

func (c *request) reviseFile(to string, body *document.DescribeBody) error {
	result, err := c.commit(body.ToOp(c.fileKey(), to, c.conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.ValueResult](result, 0)
	if err != nil {
		return err
	}
	return c.answerFile(stamp, false)
}

func (c *request) deleteFile(*none) error { return c.removeValue(c.fileKey()) }

func (c *request) listFiles(*none) error {
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
	return c.answer(reply{body: document.ListOf(found.Items, next, document.FileOf)})
}
