package agent

// Value is opaque bytes under a key: what other protocols need.
type Value struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	ContentType string
	Bytes       []byte
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
	UpdatedAt   int64
	ExpiresAt   int64
}
