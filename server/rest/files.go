package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeFiles(f *api) {
	const tag, one = "files", "/v1/files/{path}"
	register(f, route{
		method: http.MethodPut, path: one, id: "write-file", tag: tag, summary: "Write a file: the body, byte for byte, with its type; the path is percent-encoded",
		effect: writes, condition: "if_revision", query: []string{"ttl_ms", "if_revision", "if_incarnation", "on_exists"},
		accepts: []string{anyMedia}, creates: true, answers: document.FileStamp{},
	}, writeFile)
	register(f, route{
		method: http.MethodGet, path: one, id: "read-file", tag: tag, summary: "Read a file as it was written",
		effect: reads, media: anyMedia,
	}, readFile)
	register(f, route{
		method: http.MethodGet, path: one + "/metadata", id: "file-metadata", tag: tag, summary: "Read the metadata of a file",
		effect: reads, answers: document.File{},
	}, fileMetadata)
	register(f, route{
		method: http.MethodPatch, path: one + "/metadata", id: "describe-file", tag: tag, summary: "Change a file's content type or metadata, but not its bytes",
		effect: writes, condition: "if_revision", existing: true, bodyNeeded: true, answers: document.FileStamp{},
	}, func(c *request, body *document.DescribeBody) error { return reviseFile(c, "", body) })
	register(f, route{
		method: http.MethodPost, path: one + "/move", id: "move-file", tag: tag, summary: "Move a file atomically",
		effect: writes, condition: "if_revision", bodyNeeded: true, answers: document.FileStamp{},
	}, func(c *request, body *document.MoveBody) error {
		to, err := agent.FileKey(body.To)
		if err != nil {
			return err
		}
		return reviseFile(c, to, &body.DescribeBody)
	})
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-file", tag: tag, summary: "Delete a file",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, deleteFile)
	register(f, route{
		method: http.MethodGet, path: "/v1/files", id: "list-files", tag: tag, summary: "List files in order of paths",
		effect: reads, query: rowsQuery, answers: document.List[document.File]{},
	}, listFiles)
}

// fileKey returns the key of the file in the path. An invalid path makes the request fail.
func fileKey(c *request) string {
	key, err := agent.FileKey(c.id("path"))
	if err != nil {
		c.fail(err)
	}
	return key
}

func writeFile(c *request, _ *none) error {
	key := fileKey(c)
	stamp, err := putBody(c, key)
	if err != nil {
		return err
	}
	return answerFile(c, stamp, stamp.Revision == 1 && !stamp.Skipped)
}

// answerFile answers a write; made reports that the file is new.
func answerFile(c *request, stamp *agent.ValueResult, made bool) error {
	path, _ := agent.FilePath(stamp.Key)
	a := reply{revision: &stamp.Revision, body: document.FileStampOf(stamp)}
	if made {
		a.location = location("files", path)
	}
	return c.answer(a)
}

func readFile(c *request, _ *none) error { return sendValue(c, fileKey(c)) }

func fileMetadata(c *request, _ *none) error {
	v, err := read[*agent.Value](c, &agent.GetValue{Key: fileKey(c)})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &v.Revision, body: document.FileOf(agent.ValueRow{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Size: uint64(len(v.Bytes)),
		Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	})})
}

func reviseFile(c *request, to string, body *document.DescribeBody) error {
	result, err := c.commit(body.ToOp(fileKey(c), to, c.conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.ValueResult](result, 0)
	if err != nil {
		return err
	}
	return answerFile(c, stamp, false)
}

func deleteFile(c *request, _ *none) error { return removeValue(c, fileKey(c)) }

func listFiles(c *request, _ *none) error {
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
