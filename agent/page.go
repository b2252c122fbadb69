package agent

// Page selects one page of a list, and the order of the list.
type Page struct {
	Prefix string
	After  string // the Next of the previous page
	Limit  uint64 // 0 means ListLimitDefault
	Order  Order  // not of lists that have an order of their own: reviews, timers, recoverable sessions, the memories of all agents
	Times         // of the last change: of values, checkpoints, threads, sessions and conversations
}

// Order is the order of a list or of a load.
type Order string

// The orders. "" is Ascending.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// Times selects rows by a time of theirs, in Unix ms. Rows are not stored in the order of their
// times, so a read visits the others too: after ReadRowsMax rows or ReadBytesMax bytes it ends the
// page, which may then be empty although it has a Next.
type Times struct {
	Since int64 // this time or later; 0 means any
	Until int64 // earlier than this time; 0 means any
}

// Has reports whether a time is selected.
func (t Times) Has(at int64) bool {
	return (t.Since == 0 || at >= t.Since) && (t.Until == 0 || at < t.Until)
}

// All reports whether all times are selected.
func (t Times) All() bool { return t == Times{} }

// validPage validates a page of a list that has an order of its own.
func validPage(p Page) error {
	if p.Order != "" {
		return Invalid("order", "order = %q does not apply to this list, which has an order of its own: leave it out", p.Order)
	}
	return validOrdered(p)
}

// validOrdered validates a page of a list in the order of keys.
func validOrdered(p Page) error {
	return firstOf(validRange(p), p.refused())
}

// validRows validates a page of a list in the order of keys whose rows have a time.
func validRows(p Page) error {
	return firstOf(validRange(p), p.validate())
}

func validRange(p Page) error {
	if p.Limit > ListLimitMax {
		return Invalid("limit", "limit = %d must be at most %d: page with after", p.Limit, ListLimitMax)
	}
	return firstOf(validPart("prefix", p.Prefix), validPart("after", p.After), validOrder(p.Order))
}

func validOrder(o Order) error { return validWord("order", o, Ascending, Descending, "") }

func (t Times) validate() error {
	switch {
	case t.Since < 0:
		return Invalid("since", "since = %d must not be negative: it is a Unix time in milliseconds", t.Since)
	case t.Until < 0:
		return Invalid("until", "until = %d must not be negative: it is a Unix time in milliseconds", t.Until)
	}
	return nil
}

// refused returns an error if times are selected in a list whose rows have none.
func (t Times) refused() error {
	if !t.All() {
		return Invalid("since", "since and until do not apply to this list: leave them out")
	}
	return nil
}
