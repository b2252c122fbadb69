package document

import (
	"dormouse/agent"
)

var fileOps = map[string]func() wireOp{
	"revise_value": func() wireOp { return new(reviseValueOp) },
}

// File is a file without its bytes.
type File struct {
	Path        string `json:"path"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	Bytes       uint64 `json:"bytes"`
	ContentType string `json:"content_type,omitzero"`
	Metadata    JSON   `json:"metadata"`
	UpdatedAt   int64  `json:"updated_at"`
	ExpiresAt   int64  `json:"expires_at,omitzero"`
}

// FileOf returns the document of r.
func FileOf(r agent.ValueRow) File {
	path, _ := agent.FilePath(r.Key)
	return File{
		Path: path, Incarnation: r.Incarnation, Revision: r.Revision, Bytes: r.Size, ContentType: r.ContentType,
		Metadata: JSON(r.Metadata), UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
}

// FileStamp is the result of a write to a file.
type FileStamp struct {
	Path        string `json:"path"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
	Skipped     bool   `json:"skipped,omitzero" doc:"The file existed and was kept"`
}

// FileStampOf returns the document of r.
func FileStampOf(r *agent.ValueResult) FileStamp {
	path, _ := agent.FilePath(r.Key)
	return FileStamp{Path: path, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Skipped: r.Skipped}
}

// DescribeBody changes the content type and the metadata of a value.
type DescribeBody struct {
	ContentType   string  `json:"content_type,omitempty" doc:"The current one if absent"`
	Metadata      JSON    `json:"metadata,omitempty" doc:"A merge patch (RFC 7396)"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

// MoveBody moves a file, and may change its content type and metadata.
type MoveBody struct {
	To string `json:"to" doc:"The new path, which must not exist"`
	DescribeBody
}

// reviseValueOp revises a value in a commit; files are values.
type reviseValueOp struct {
	opName
	Key string `json:"key"`
	To  string `json:"to,omitempty" doc:"The new key, which must not exist"`
	DescribeBody
}

func (o *reviseValueOp) op() (agent.Op, error) { return o.ToOp(o.Key, o.To, o.IfRevision), nil }

// ToOp returns the revision of a value at a revision, which may be nil. to is its new
// key; "" keeps the key.
func (b *DescribeBody) ToOp(key, to string, revision *uint64) *agent.ReviseValue {
	return &agent.ReviseValue{
		Key: key, To: to, ContentType: b.ContentType, Metadata: agent.JSON(b.Metadata), IfRevision: revision, IfIncarnation: b.IfIncarnation,
	}
}
