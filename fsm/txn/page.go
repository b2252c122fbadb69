package txn

import (
	"errors"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// ErrPageFull is returned by a visit function for a row that does not fit the page: the page ends
// before it.
var ErrPageFull = errors.New("the page is full")

// span is a range of rows that a page reads: lower <= key < upper.
type span struct {
	lower, upper string
	back         bool // in descending order
	rowsMax      int  // rows that the page visits, and agent.ReadBytesMax of them in bytes; 0 means any number
}

// EachInPage visits the rows of a list's page in the page's order: a key is prefix, the id and a NUL.
// It returns the id after which the next page begins, "" if there is none.
//
// visit returns the bytes that its item takes in the answer. For an item that it left out it returns 0,
// or the bytes besides the row that it read for it, as a negative number.
func (r Reader) EachInPage(prefix string, page agent.Page, visit func(id string, raw []byte) (bytes int, err error)) (next string, err error) {
	return r.eachInPage(prefix, page, !page.All() || r.Deletions.ofKind(r.Scope, prefix[:1]), visit)
}

// eachInPage is EachInPage. filtered reports that visit may leave out many rows: the page then reads a
// bounded number of them.
func (r Reader) eachInPage(
	prefix string, page agent.Page, filtered bool, visit func(id string, raw []byte) (bytes int, err error),
) (next string, err error) {
	s := span{lower: prefix + page.Prefix, back: page.Order == agent.Descending}
	s.upper = kv.After(s.lower)
	if filtered || !page.All() {
		s.rowsMax = agent.ReadRowsMax
	}
	after := prefix + page.After + kv.Separator
	switch {
	case page.After == "":
	case s.back:
		s.upper = min(s.upper, after)
	case page.After >= page.Prefix:
		s.lower = after + kv.Separator // the row itself is id ‖ 0
	}
	last, err := r.eachOfSpan(s, page.Limit, agent.ReadBytesMax, func(key string, raw []byte) (int, error) {
		return visit(IDAfter(prefix, key), raw)
	})
	if err != nil || last == "" {
		return "", err
	}
	return IDAfter(prefix, last), nil
}

// IDAfter returns the id in a row's key, between prefix and a final NUL.
func IDAfter(prefix, key string) string { return strings.TrimSuffix(key[len(prefix):], kv.Separator) }

// EachOfPage visits rows in key order until the page has its limit of rows or more than bytesMax
// bytes. It returns the key after which the next page begins, "" if there is none. visit is as in
// EachInPage.
func (r Reader) EachOfPage(
	lower, upper string, limit uint64, bytesMax int, visit func(key string, raw []byte) (bytes int, err error),
) (last string, err error) {
	return r.eachOfSpan(span{lower: lower, upper: upper}, limit, bytesMax, visit)
}

// eachOfSpan is EachOfPage in a span.
func (r Reader) eachOfSpan(s span, limit uint64, bytesMax int, visit func(key string, raw []byte) (bytes int, err error)) (last string, err error) {
	if s.lower >= s.upper {
		return "", nil
	}
	cursor, err := s.scan(r.Engine)
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := cursor.Close(); err == nil {
			err = closeErr
		}
	}()
	limit = min(OrDefault(limit, agent.ListLimitDefault), agent.ListLimitMax)
	rows, read := 0, 0
	for items, size := uint64(0), 0; cursor.Next(); {
		if items == limit || size > bytesMax || s.rowsMax > 0 && (rows == s.rowsMax || read > agent.ReadBytesMax) {
			return last, nil
		}
		key, raw := string(cursor.Key()), cursor.Value()
		if raw == nil {
			break // Close returns the error
		}
		bytes, err := visit(key, raw)
		if errors.Is(err, ErrPageFull) {
			return last, nil
		}
		if err != nil {
			return "", err
		}
		last = key
		rows, read = rows+1, read+len(key)+len(raw)+max(bytes, -bytes)
		if bytes > 0 {
			items++
			size += bytes
		}
	}
	return "", nil
}

func (s span) scan(engine storage.Reader) (*storage.Cursor, error) {
	if s.back {
		return engine.ScanBack([]byte(s.lower), []byte(s.upper))
	}
	return engine.Scan([]byte(s.lower), []byte(s.upper))
}

// Bodies is the size of a page whose items have bodies. A page holds at most agent.ReadBytesMax, or
// one item.
type Bodies struct{ bytes int }

// Fit adds an item to the page, or returns ErrPageFull.
func (p *Bodies) Fit(bytes int) error {
	if p.bytes > 0 && p.bytes+bytes > agent.ReadBytesMax {
		return ErrPageFull
	}
	p.bytes += bytes
	return nil
}

// OrDefault returns n, or otherwise if n is 0.
func OrDefault(n, otherwise uint64) uint64 {
	if n == 0 {
		return otherwise
	}
	return n
}
