package fsm

// coded is a message of the log with generated code of its own, several times
// as fast as reflection. Equal messages give equal bytes: none has a map, and
// fields go in the order of their numbers.
//
// It does not look whether strings are UTF-8; see commitShape.
type coded interface {
	MarshalVTStrict() ([]byte, error)
	UnmarshalVT(raw []byte) error
}

func marshal(m coded) ([]byte, error) { return m.MarshalVTStrict() }

// unmarshal decodes into m, which must be new: it adds to what is there.
func unmarshal(raw []byte, m coded) error { return m.UnmarshalVT(raw) }
