package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// RecipientsMax bounds the recipients of backups.
const RecipientsMax = 20

// Recipients are the age public keys that objects are encrypted to. None means no encryption.
type Recipients struct {
	all    []age.Recipient
	hybrid bool // they are post-quantum keys, which age does not mix with others
}

// ParseRecipients returns the recipients of texts such as age1….
func ParseRecipients(texts []string) (Recipients, error) {
	var r Recipients
	if len(texts) > RecipientsMax {
		return r, fmt.Errorf("%d recipients: use at most %d", len(texts), RecipientsMax)
	}
	for i, text := range texts {
		one, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(one) != 1 {
			return r, fmt.Errorf("%q is no age recipient: it is the public key, age1…, that \"age-keygen\" prints", text)
		}
		_, hybrid := one[0].(*age.HybridRecipient)
		if i > 0 && hybrid != r.hybrid {
			return r, errors.New("age cannot encrypt to post-quantum recipients (age1pq1…) and to others at once: use one kind")
		}
		r.all, r.hybrid = append(r.all, one[0]), hybrid
	}
	return r, nil
}

// None reports whether objects are not encrypted.
func (r Recipients) None() bool { return len(r.all) == 0 }

// Seal returns a writer that encrypts what is written to it. Close it.
func (r Recipients) Seal(w io.Writer) (io.WriteCloser, error) {
	if r.None() {
		return nopCloser{w}, nil
	}
	out, err := age.Encrypt(w, r.all...)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return out, nil
}

type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }

// WithWitness returns r and one more recipient, whose identity exists only in this process. With it
// a node reads back what it has just written, without a key that reads other backups.
func (r Recipients) WithWitness() (Recipients, Identities, error) {
	if r.None() {
		return r, nil, nil
	}
	all := append([]age.Recipient(nil), r.all...)
	if r.hybrid {
		id, err := age.GenerateHybridIdentity()
		if err != nil {
			return r, nil, fmt.Errorf("make a key: %w", err)
		}
		return Recipients{append(all, id.Recipient()), true}, Identities{id}, nil
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return r, nil, fmt.Errorf("make a key: %w", err)
	}
	return Recipients{all: append(all, id.Recipient())}, Identities{id}, nil
}

// Identities are the age secret keys that decrypt objects.
type Identities []age.Identity

// ReadIdentities returns the identities in files that age-keygen has written.
func ReadIdentities(files []string) (Identities, error) {
	var all Identities
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read an identity: %w", err)
		}
		some, err := age.ParseIdentities(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s is no age identity, as \"age-keygen\" writes it: %w", file, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// ErrIdentity is wrapped by the error of an object that no identity decrypts.
var ErrIdentity = errors.New("none of the age identities decrypts it: name the right one with --identity FILE")

// Open returns a reader that decrypts r.
func (ids Identities) Open(r io.Reader, encrypted bool) (io.Reader, error) {
	if !encrypted {
		return r, nil
	}
	if len(ids) == 0 {
		return nil, errors.New("it is encrypted: name an age identity with --identity FILE")
	}
	out, err := age.Decrypt(r, ids...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, ErrIdentity
	}
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	return out, nil
}
