package backup

import (
	"context"
	"errors"

	"dormouse/backup/blob"
)

// segments lists the segments at the destination, in the order of their first entries. If there are more than
// one list returns, it makes further ones.
func (c *Catalog) segments(ctx context.Context) ([]SegmentRef, error) {
	var all []SegmentRef
	last, prefixes := "", []string{c.Cluster + logDir}
	for len(prefixes) > 0 {
		prefix := prefixes[0]
		objects, err := c.Store.List(ctx, prefix)
		for _, o := range objects {
			if o.Name <= last {
				continue
			}
			last = o.Name
			if s, ok := parseSegment(c.Cluster, o.Name); ok {
				s.Bytes = o.Size
				all = append(all, s)
			}
		}
		prefixes = prefixes[1:]
		if errors.Is(err, blob.ErrTooMany) {
			rest := following(prefix, last, len(c.Cluster+logDir)+indexDigits)
			if rest == nil {
				return nil, err
			}
			prefixes, err = append(rest, prefixes...), nil
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// indexDigits is the number of digits of an index in a name.
const indexDigits = 20

// following returns prefixes of all names of segments that begin with prefix and follow the name last, in their order. The
// first entry of a segment ends at the position end of its name. It returns nil if prefix has the first entry already.
func following(prefix, last string, end int) []string {
	if len(prefix) >= end || len(last) < end {
		return nil
	}
	all := []string{last[:end]}
	for i := end - 1; i >= len(prefix); i-- {
		for digit := last[i] + 1; digit <= '9'; digit++ {
			all = append(all, last[:i]+string(rune(digit)))
		}
	}
	return all
}
