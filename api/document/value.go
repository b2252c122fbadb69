package document

import (
	"dormouse/agent"
)

var valueOps = map[string]func() wireOp{
	"put_value":    func() wireOp { return new(putValueOp) },
	"delete_value": func() wireOp { return new(deleteValueOp) },
}

type putValueOp struct {
	opName
	Key           string  `json:"key"`
	ContentType   string  `json:"content_type,omitempty"`
	Bytes         []byte  `json:"bytes,omitempty"`
	Metadata      JSON    `json:"metadata,omitempty" doc:"The current one if absent"`
	TTLMS         uint64  `json:"ttl_ms,omitempty"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfBytes       *[]byte `json:"if_bytes,omitempty" doc:"Apply only if the stored bytes equal these"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	OnExists      string  `json:"on_exists,omitempty" enum:"replace,skip" doc:"skip keeps a value that exists; replace if absent"`
}

func (o *putValueOp) op() (agent.Op, error) {
	skip, err := SkipsExistingRow(o.OnExists)
	if err != nil {
		return nil, err
	}
	ttl, err := Duration("ttl_ms", o.TTLMS)
	return &agent.PutValue{
		Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, TTL: ttl, Metadata: agent.JSON(o.Metadata),
		IfRevision: o.IfRevision, IfBytes: o.IfBytes, IfIncarnation: o.IfIncarnation, SkipExisting: skip,
	}, err
}

type deleteValueOp struct {
	opName
	Key           string  `json:"key"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfBytes       *[]byte `json:"if_bytes,omitempty" doc:"Apply only if the stored bytes equal these"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteValueOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteValue{
		Key: o.Key, IfRevision: o.IfRevision, IfBytes: o.IfBytes, IfIncarnation: o.IfIncarnation, Seal: seal,
	}, err
}

// ValueStamp is the result of a write to a value.
type ValueStamp struct {
	Key         string `json:"key"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
	Skipped     bool   `json:"skipped,omitzero" doc:"The value existed and was kept"`
}

// ValueStampOf returns the document of r.
func ValueStampOf(r *agent.ValueResult) ValueStamp {
	return ValueStamp{Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Skipped: r.Skipped}
}

// Value is a value in JSON.
type Value struct {
	Key         string `json:"key"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	ContentType string `json:"content_type"`
	Bytes       []byte `json:"bytes"`
	Metadata    JSON   `json:"metadata,omitempty"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
	ExpiresAt   int64  `json:"expires_at,omitzero"`
}

// ValueOf returns the document of v.
func ValueOf(v *agent.Value) Value {
	return Value{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Bytes: v.Bytes,
		Metadata: JSON(v.Metadata), CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	}
}

// ValueRow is a value in a list.
type ValueRow struct {
	Key         string `json:"key"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	UpdatedAt   int64  `json:"updated_at"`
	Bytes       uint64 `json:"bytes"`
	ContentType string `json:"content_type"`
	Metadata    JSON   `json:"metadata,omitempty"`
	ExpiresAt   int64  `json:"expires_at,omitzero"`

	Body *[]byte `json:"body,omitzero" doc:"The bytes, if the list is asked for bodies"`
}

// ValueRowOf returns the document of r.
func ValueRowOf(r agent.ValueRow) ValueRow {
	return ValueRow{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, UpdatedAt: r.UpdatedAt,
		Bytes: r.Size, ContentType: r.ContentType, Metadata: JSON(r.Metadata), ExpiresAt: r.ExpiresAt, Body: r.Body,
	}
}
