package fsm

import (
	"strings"

	"dormouse/agent"
)

// eachInPage visits the rows of a list's page in key order: prefix begins their
// keys, the id and a NUL end them. It tells after which id the next page
// begins, "" where there is none.
//
// visit gives the bytes that its item takes in the answer, or 0 for one that
// it left out.
func (r reader) eachInPage(prefix string, page agent.Page, visit func(id string, raw []byte) (bytes int, err error)) (next string, err error) {
	lower := prefix + page.Prefix
	upper := after(lower)
	if page.After != "" && page.After >= page.Prefix {
		lower = prefix + page.After + "\x00\x00" // the row itself is id ‖ 0
	}
	if lower >= upper {
		return "", nil
	}
	cursor, err := r.view.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := cursor.Close(); err == nil {
			err = closeErr
		}
	}()
	limit := min(orDefault(page.Limit, agent.ListLimitDefault), agent.ListLimitMax)
	last, items, size := "", uint64(0), 0
	for cursor.Next() {
		id := strings.TrimSuffix(string(cursor.Key()[len(prefix):]), separator)
		if items == limit || size > agent.ReadBytesMax {
			return last, nil
		}
		raw := cursor.Value()
		if raw == nil {
			break // Close tells why
		}
		bytes, err := visit(id, raw)
		if err != nil {
			return "", err
		}
		last = id
		if bytes > 0 {
			items++
			size += bytes
		}
	}
	return "", nil
}

func orDefault(n, otherwise uint64) uint64 {
	if n == 0 {
		return otherwise
	}
	return n
}
