package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// checked reads an object, and compares it at its end with what is known of it.
type checked struct {
	r      io.Reader
	object string
	size   int64
	sha256 string
	digest hash.Hash
	read   int64
}

func newChecked(r io.Reader, object string, size int64, sum string) *checked {
	return &checked{r: r, object: object, size: size, sha256: sum, digest: sha256.New()}
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.digest.Write(p[:n])
	if c.read += int64(n); c.read > c.size {
		return n, fmt.Errorf("%s is damaged: it has more than the %d bytes of the manifest", c.object, c.size)
	}
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if c.read != c.size {
		return n, fmt.Errorf("%s is truncated: it has %d of %d bytes", c.object, c.read, c.size)
	}
	if sum := hex.EncodeToString(c.digest.Sum(nil)); sum != c.sha256 {
		return n, fmt.Errorf("%s is damaged: its SHA-256 does not match the manifest", c.object)
	}
	return n, io.EOF
}

// state is the plain content of an object.
type state struct {
	plain   io.Reader
	checked *checked
	io.Closer
}

// Read implements io.Reader. The end of the content is that of the object.
func (s *state) Read(p []byte) (int, error) {
	n, err := s.plain.Read(p)
	if errors.Is(err, io.EOF) {
		if _, rest := io.Copy(io.Discard, s.checked); rest != nil {
			return n, rest
		}
	}
	return n, err
}

// Measure counts and digests what is written through it.
type Measure struct {
	W      io.Writer
	Bytes  int64
	digest hash.Hash
}

// NewMeasure returns a Measure that writes to w.
func NewMeasure(w io.Writer) *Measure { return &Measure{W: w, digest: sha256.New()} }

// Write implements io.Writer.
func (m *Measure) Write(p []byte) (int, error) {
	n, err := m.W.Write(p)
	m.digest.Write(p[:n])
	m.Bytes += int64(n)
	return n, err
}

// SHA256 returns the digest of what was written.
func (m *Measure) SHA256() string { return hex.EncodeToString(m.digest.Sum(nil)) }
