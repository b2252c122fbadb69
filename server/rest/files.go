package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeFiles(f *web.API) {
	const tag, one = "files", "/v1/files/{path}"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "write-file", Tag: tag, Summary: "Write a file: the body, byte for byte, with its type; the path is percent-encoded",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"ttl_ms", "if_revision", "if_incarnation", "on_exists"},
		Accepts: []string{web.AnyMedia}, Creates: true, Answers: document.FileStamp{},
	}, writeFile)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "read-file", Tag: tag, Summary: "Read a file as it was written",
		Effect: web.Reads, Media: web.AnyMedia,
	}, readFile)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/metadata", ID: "file-metadata", Tag: tag, Summary: "Read the metadata of a file",
		Effect: web.Reads, Answers: document.File{},
	}, fileMetadata)
	web.Register(f, web.Route{
		Method: http.MethodPatch, Path: one + "/metadata", ID: "describe-file", Tag: tag, Summary: "Change a file's content type or metadata, but not its bytes",
		Effect: web.Writes, Condition: "if_revision", Existing: true, BodyNeeded: true, Answers: document.FileStamp{},
	}, func(c *web.Request, body *document.DescribeBody) error { return reviseFile(c, "", body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/move", ID: "move-file", Tag: tag, Summary: "Move a file atomically",
		Effect: web.Writes, Condition: "if_revision", BodyNeeded: true, Answers: document.FileStamp{},
	}, func(c *web.Request, body *document.MoveBody) error {
		to, err := agent.FileKey(body.To)
		if err != nil {
			return err
		}
		return reviseFile(c, to, &body.DescribeBody)
	})
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-file", Tag: tag, Summary: "Delete a file",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Status: http.StatusNoContent,
	}, deleteFile)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/files", ID: "list-files", Tag: tag, Summary: "List files in order of paths",
		Effect: web.Reads, Query: web.RowsQuery, Answers: document.List[document.File]{},
	}, listFiles)
}

// fileKey returns the key of the file in the path. An invalid path makes the request fail.
func fileKey(c *web.Request) string {
	key, err := agent.FileKey(c.ID("path"))
	if err != nil {
		c.Fail(err)
	}
	return key
}

func writeFile(c *web.Request, _ *web.None) error {
	key := fileKey(c)
	stamp, err := putBody(c, key)
	if err != nil {
		return err
	}
	return answerFile(c, stamp, stamp.Revision == 1 && !stamp.Skipped)
}

// answerFile answers a write; made reports that the file is new.
func answerFile(c *web.Request, stamp *agent.ValueResult, made bool) error {
	path, _ := agent.FilePath(stamp.Key)
	a := web.Reply{Revision: &stamp.Revision, Body: document.FileStampOf(stamp)}
	if made {
		a.Location = web.PathOf("files", path)
	}
	return c.Answer(a)
}

func readFile(c *web.Request, _ *web.None) error { return sendValue(c, fileKey(c)) }

func fileMetadata(c *web.Request, _ *web.None) error {
	v, err := web.Read[*agent.Value](c, &agent.GetValue{Key: fileKey(c)})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &v.Revision, Body: document.FileOf(agent.ValueRow{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Size: uint64(len(v.Bytes)),
		Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	})})
}

func reviseFile(c *web.Request, to string, body *document.DescribeBody) error {
	result, err := c.Commit(body.ToOp(fileKey(c), to, c.Conditioned(body.IfRevision)))
	if err != nil {
		return err
	}
	stamp, err := web.ResultOf[*agent.ValueResult](result, 0)
	if err != nil {
		return err
	}
	return answerFile(c, stamp, false)
}

func deleteFile(c *web.Request, _ *web.None) error { return removeValue(c, fileKey(c)) }

func listFiles(c *web.Request, _ *web.None) error {
	page := c.Page()
	page.Prefix = agent.FilePrefix(page.Prefix)
	if page.After != "" {
		page.After = agent.FilePrefix(page.After)
	}
	found, err := web.Read[*agent.ValueList](c, &agent.ListValues{Page: page})
	if err != nil {
		return err
	}
	next, _ := agent.FilePath(found.Next)
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, next, document.FileOf)})
}
