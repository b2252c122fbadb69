package agent

import (
	"strings"
	"unicode/utf8"
)

// Value is opaque bytes under a key.
type Value struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	ContentType string
	Bytes       []byte
	Metadata    JSON  // an object; nil if none was ever given
	CreatedAt   int64 // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms; 0 means never
}

// ValueRow is a value in a list.
type ValueRow struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	ContentType string
	Size        uint64
	Metadata    JSON
	UpdatedAt   int64
	ExpiresAt   int64
	Body        *[]byte // the bytes, if ListValues.Body asked for them
}

// A file is a value whose key is filePrefix and its path. ReviseValue moves it, and
// listing values by prefix lists a directory. Validate requires that such keys satisfy
// ValidFilePath.

// filePrefix begins the keys of files; the path's first slash follows.
const filePrefix = "file:"

// FileKey returns the key of the value that holds the file at a path.
func FileKey(path string) (string, error) {
	if err := ValidFilePath("path", path); err != nil {
		return "", err
	}
	return filePrefix + path, nil
}

// FilePrefix returns the prefix of the keys of all files whose paths begin with
// prefix, which need not end in a slash; "" means all files.
func FilePrefix(prefix string) string {
	if prefix == "" {
		prefix = "/"
	}
	return filePrefix + prefix
}

// FilePath returns the path of the file that the value under key holds; ok is false if
// it is not a file.
func FilePath(key string) (path string, ok bool) {
	path, ok = strings.CutPrefix(key, filePrefix)
	return path, ok && strings.HasPrefix(path, "/")
}

// ValidFilePath returns an error if a file's path is invalid. It must begin with a
// slash and name a file. Its parts must not be empty, "." or "..". It must have at
// most FilePathBytesMax bytes of UTF-8 without NUL. The error is an *Error that names
// field.
func ValidFilePath(field, path string) error {
	switch {
	case len(path) > FilePathBytesMax:
		return TooLarge(field, "file_path_bytes_max", len(path), FilePathBytesMax)
	case !strings.HasPrefix(path, "/"):
		return Invalid(field, "%s = %q must begin with a slash", field, path)
	case strings.IndexByte(path, 0) >= 0:
		return Invalid(field, "%s must not hold a NUL byte: remove it", field)
	case !utf8.ValidString(path):
		return Invalid(field, "%s is not UTF-8", field)
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch part {
		case "":
			return Invalid(field, "%s = %q has an empty part: name a file, with one slash between parts", field, path)
		case ".", "..":
			return Invalid(field, "%s = %q has the part %q: give the resolved path", field, path, part)
		}
	}
	return nil
}

// validValueKey validates the key of a value to write, which may be a file's.
func validValueKey(field, key string) error {
	if err := ValidKey(field, key); err != nil {
		return err
	}
	if path, ok := FilePath(key); ok {
		return ValidFilePath(field, path)
	}
	return nil
}
