package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strings"
)

// ErrNotFound is wrapped by the error of reading an object that does not exist.
var ErrNotFound = errors.New("there is no such object")

// ErrTooMany is wrapped by the error of a list that has more than ObjectsMax objects.
var ErrTooMany = errors.New("there are too many objects for one list")

// Limits of names and lists.
const (
	NameBytesMax = 512
	ObjectsMax   = 1_000_000 // of one list
)

// Object is a stored object in a list.
type Object struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Store holds objects by name. A name is a path of letters, digits and . _ - with / between its
// parts. The methods may be called concurrently.
type Store interface {
	// Put stores what r returns. The object appears whole or not at all, and replaces one of the
	// same name. size is about how many bytes it will have, or 0 if that is not known: a store may refuse an
	// object that is much larger.
	Put(ctx context.Context, name string, r io.Reader, size int64) error

	// Get opens an object. The error wraps ErrNotFound if there is none. Close the reader after use.
	Get(ctx context.Context, name string) (io.ReadCloser, error)

	// List returns the objects whose names begin with prefix, in the order of their names. If there are
	// more than ObjectsMax, it returns the first of them, and an error that wraps ErrTooMany.
	List(ctx context.Context, prefix string) ([]Object, error)

	// Dirs returns the first parts of the names that have several, in their order.
	Dirs(ctx context.Context) ([]string, error)

	// Delete removes an object. It is no error if there is none.
	Delete(ctx context.Context, name string) error

	Close() error
}

// Schemes are the kinds of URLs: of directories, and of stores that dormblob reaches.
var Schemes = []string{"file", "s3", "gs", "azblob"}

// Check returns an error unless location is the URL of a store.
func Check(location string) error {
	_, err := parse(location)
	return err
}

// Dir returns the directory of a file:// URL; false if location is the URL of another store.
func Dir(location string) (string, bool) {
	u, err := parse(location)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	return path.Clean(u.Path), true
}

func parse(location string) (*url.URL, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: write file:///DIRECTORY, s3://BUCKET, gs://BUCKET or azblob://CONTAINER", location)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") || path.Clean(u.Path) == "/" {
			return nil, fmt.Errorf("%q names no directory: write file:// and an absolute path, such as file:///var/backups/dormouse", location)
		}
	case "s3", "gs", "azblob":
		if u.Host == "" {
			return nil, fmt.Errorf("%q names no bucket: write %s://BUCKET", location, u.Scheme)
		}
	default:
		return nil, fmt.Errorf("%q is no place for backups: write file:///DIRECTORY, s3://BUCKET, gs://BUCKET or azblob://CONTAINER", location)
	}
	if u.User != nil {
		return nil, fmt.Errorf("the URL %s has credentials: give them to dormblob in its environment", u.Redacted())
	}
	return u, nil
}

// Open returns the store at a URL. program is the path of dormblob, for URLs other than file://; ""
// means dormblob in the directory of the running program, or else in $PATH. ctx bounds the start of dormblob.
func Open(ctx context.Context, location, program string) (Store, error) {
	u, err := parse(location)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" {
		return OpenDir(u.Path)
	}
	return OpenProgram(ctx, program, location)
}

// OpenToRead is Open for a caller that changes nothing: it does not create a missing directory.
func OpenToRead(ctx context.Context, location, program string) (Store, error) {
	u, err := parse(location)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" {
		if _, err := os.Stat(u.Path); err != nil {
			return nil, fmt.Errorf("open the directory of the backups: %w", err)
		}
	}
	return Open(ctx, location, program)
}

// checkName returns an error unless name is the name of an object, or the beginning of one.
func checkName(name string) error {
	if name == "" || len(name) > NameBytesMax {
		return fmt.Errorf("the name %.64q of an object has %d bytes: use 1 to %d", name, len(name), NameBytesMax)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.ContainsFunc(part, func(r rune) bool { return !nameRune(r) }) {
			return fmt.Errorf("%q is no name of an object: use letters, digits, '.', '_' and '-', with '/' between parts", name)
		}
	}
	return nil
}

func validName(name string) bool { return checkName(name) == nil }

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
}
