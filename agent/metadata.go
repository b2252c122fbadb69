package agent

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// IndexMetadata declares the members of metadata by which the values, checkpoints and sessions of a
// scope are listed; see Where. It replaces the keys that were declared before, and creates the scope
// if it does not exist. The keys cover all rows: those that exist are added to the index in steps,
// and Scope.MetadataBuilding is set until all are.
type IndexMetadata struct {
	Keys []string // at most MetadataKeysMax, none twice; none means no index
}

// Limits of the index of metadata.
const (
	MetadataKeysMax       = 8   // declared keys of a scope, and members in one Where
	MetadataKeyBytesMax   = 128 // one of these keys
	MetadataValueBytesMax = 512 // one value in a Where
)

// MetadataEquals selects rows whose metadata has a member Key with the value Value. Value is the
// text of a string, or the literal of a number, true or false as it was written. Objects, arrays and
// null equal nothing.
type MetadataEquals struct{ Key, Value string }

// Where selects the rows that all of its elements select; none selects all rows. A list reads one of
// the keys from the index, and compares the others with each row that it finds there, so a page may
// be empty although it has a Next, as with Times. A key that the scope has not declared is invalid.
type Where []MetadataEquals

func (o *IndexMetadata) validateOp(t *tally) error {
	for _, key := range o.Keys {
		t.bytes += len(key)
	}
	return ValidMetadataKeys(o.Keys)
}

// ValidMetadataKeys returns an error if keys cannot be declared together.
func ValidMetadataKeys(keys []string) error {
	if len(keys) > MetadataKeysMax {
		return TooLarge("keys", "metadata_keys_max", len(keys), MetadataKeysMax)
	}
	for i, key := range keys {
		if err := validMetadataKey("keys", key); err != nil {
			return err
		}
		if slices.Contains(keys[:i], key) {
			return Invalid("keys", "the key %q is given twice: give it once", key)
		}
	}
	return nil
}

func validMetadataKey(field, key string) error {
	if key == "" {
		return Invalid(field, "a key of metadata must not be empty")
	}
	if bytes.IndexByte([]byte(key), 0) >= 0 {
		return Invalid(field, "the key %q holds a NUL byte: such a member cannot be indexed", key)
	}
	return validText(field, "metadata_key_bytes_max", key, MetadataKeyBytesMax)
}

func (w Where) validate() error {
	if len(w) > MetadataKeysMax {
		return TooLarge("metadata", "metadata_keys_max", len(w), MetadataKeysMax)
	}
	for i, m := range w {
		if err := firstOf(validMetadataKey("metadata", m.Key), validText("metadata", "metadata_value_bytes_max", m.Value, MetadataValueBytesMax)); err != nil {
			return err
		}
		if slices.ContainsFunc(w[:i], func(other MetadataEquals) bool { return other.Key == m.Key }) {
			return Invalid("metadata", "the key %q is given twice: give it once", m.Key)
		}
	}
	return nil
}

// Index returns the element whose key a list reads from the index: the first by name. Where must not
// be empty.
func (w Where) Index() MetadataEquals {
	return slices.MinFunc(w, func(a, b MetadataEquals) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
}

// Declared returns an error if a scope with these keys cannot be listed by w.
func (w Where) Declared(keys []string, building bool) error {
	for _, m := range w {
		if !slices.Contains(keys, m.Key) {
			return Invalid("metadata", "the scope has not declared the key %q of metadata, only %q: declare it with index_metadata", m.Key, keys)
		}
	}
	if building {
		return Errorf(CodeUnavailable, "the index of metadata is being built: try again")
	}
	return nil
}

// Match reports whether metadata has all members of w.
func (w Where) Match(metadata JSON) bool {
	for _, m := range w {
		if text, ok := MetadataText(metadata, m.Key); !ok || text != m.Value {
			return false
		}
	}
	return true
}

// MetadataText returns the text of a member of metadata; see MetadataEquals. ok is false if the
// member does not exist or is an object, an array or null.
func MetadataText(metadata JSON, key string) (text string, ok bool) {
	if len(metadata) == 0 {
		return "", false
	}
	d := jsontext.NewDecoder(bytes.NewReader(metadata), jsontext.AllowDuplicateNames(true))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '{' {
		return "", false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return "", false
		}
		if name.String() != key {
			if err := d.SkipValue(); err != nil {
				return "", false
			}
			continue
		}
		switch d.PeekKind() {
		case '"', '0', 't', 'f':
			value, err := d.ReadToken()
			return value.String(), err == nil
		default:
			return "", false
		}
	}
	return "", false
}
