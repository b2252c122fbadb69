package audit

// SetFault makes each write of a log call fault first, and fail with its error.
func (o *Options) SetFault(fault func() error) { o.fault = fault }

// The bounds that tests reach.
const (
	QueueMax     = queueMax
	DenialsMax   = denialsMax
	DenialsBurst = denialsBurst
)

// WriteUnsynced writes a record that no caller waits for. Run must not run.
func (l *Log) WriteUnsynced(rec Record) { l.write([]*entry{{rec: rec}}) }

// Sync makes all lines durable. Run must not run.
func (l *Log) Sync() error { return l.sync() }
