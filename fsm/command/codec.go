package command

// Coded is a message of the log with generated code of its own, several times
// as fast as reflection. Equal messages give equal bytes: none has a map, and
// fields go in the order of their numbers.
//
// It does not look whether strings are UTF-8; see commitShape.
type Coded interface {
	MarshalVTStrict() ([]byte, error)
	UnmarshalVT(raw []byte) error
}

// Marshal encodes m.
func Marshal(m Coded) ([]byte, error) { return m.MarshalVTStrict() }

// Unmarshal decodes into m, which must be new: it adds to what is there.
func Unmarshal(raw []byte, m Coded) error { return m.UnmarshalVT(raw) }
