package agent

// Value is opaque bytes under a key: what other protocols need.
type Value struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	ContentType string
	Bytes       []byte
	Metadata    JSON  // an object; nil where none was ever given
	CreatedAt   int64 // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms; 0 means never
}

// ValueRow is a value without its bytes.
type ValueRow struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	ContentType string
	Size        uint64
	Metadata    JSON
	UpdatedAt   int64
	ExpiresAt   int64
}
