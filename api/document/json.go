package document

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// JSON is one JSON value as its writer wrote it, including null; nil means that it is
// absent.
type JSON []byte

// UnmarshalJSONFrom keeps the value's bytes.
func (d *JSON) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*d = JSON(value.Clone())
	return nil
}

// MarshalJSONTo writes the value's bytes; nil is an empty object.
func (d JSON) MarshalJSONTo(enc *jsontext.Encoder) error {
	if len(d) == 0 {
		return enc.WriteValue(jsontext.Value("{}"))
	}
	return enc.WriteValue(jsontext.Value(d))
}

// AnyValue is any JSON value, as its writer wrote it; nil means none.
type AnyValue struct{ JSON }

func anyValueOf(value agent.JSON) AnyValue { return AnyValue{JSON(value)} }
