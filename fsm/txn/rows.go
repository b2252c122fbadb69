package txn

import (
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// EachRow visits all rows of a kind; name is the key without the kind.
func EachRow(r storage.Reader, kind string, visit func(name string, raw []byte) error) error {
	cursor, err := r.Scan([]byte(kind), []byte(kv.After(kind)))
	if err != nil {
		return err
	}
	for cursor.Next() {
		name, raw := string(cursor.Key()[len(kind):]), cursor.Value()
		if raw == nil {
			break
		}
		if err := visit(name, raw); err != nil {
			_ = cursor.Close()
			return err
		}
	}
	return cursor.Close()
}
