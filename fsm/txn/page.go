package txn

import (
	"strings"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

// EachInPage visits the rows of a list's page in key order: a key is prefix, the id and a NUL. It
// returns the id after which the next page begins, "" if there is none.
//
// visit returns the bytes that its item takes in the answer, or 0 for an item that it left out.
func (r Reader) EachInPage(prefix string, page agent.Page, visit func(id string, raw []byte) (bytes int, err error)) (next string, err error) {
	lower := prefix + page.Prefix
	upper := kv.After(lower)
	if page.After != "" && page.After >= page.Prefix {
		lower = prefix + page.After + "\x00\x00" // the row itself is id ‖ 0
	}
	last, err := r.EachOfPage(lower, upper, page.Limit, agent.ReadBytesMax, func(key string, raw []byte) (int, error) {
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
	if lower >= upper {
		return "", nil
	}
	cursor, err := r.Engine.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := cursor.Close(); err == nil {
			err = closeErr
		}
	}()
	limit = min(OrDefault(limit, agent.ListLimitDefault), agent.ListLimitMax)
	for items, size := uint64(0), 0; cursor.Next(); {
		if items == limit || size > bytesMax {
			return last, nil
		}
		key, raw := string(cursor.Key()), cursor.Value()
		if raw == nil {
			break // Close returns the error
		}
		bytes, err := visit(key, raw)
		if err != nil {
			return "", err
		}
		last = key
		if bytes > 0 {
			items++
			size += bytes
		}
	}
	return "", nil
}

// OrDefault returns n, or otherwise if n is 0.
func OrDefault(n, otherwise uint64) uint64 {
	if n == 0 {
		return otherwise
	}
	return n
}
