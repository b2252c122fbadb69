package audit

// SetFault makes each write of a log call fault first, and fail with its error.
func (o *Options) SetFault(fault func() error) { o.fault = fault }

// The bounds that tests reach.
const (
	QueueMax     = queueMax
	DenialsMax   = denialsMax
	DenialsBurst = denialsBurst
)
