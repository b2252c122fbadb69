package adk

import (
	"net/url"
	"strings"
)

// The first parts of keys. The state of an app, of a user and of a session, and the
// versions of an artifact, are values. A session's events are the thread of that key.
const (
	appKind          = "adk/app"
	userKind         = "adk/user"
	sessionKind      = "adk/session"
	artifactKind     = "adk/artifact"
	userArtifactKind = "adk/user-artifact"
)

// keyOf joins a kind and names. The names are escaped, so that none holds a slash.
func keyOf(kind string, names ...string) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(name))
	}
	return b.String()
}

// namesIn returns the names of a key below a prefix that ends in a slash.
func namesIn(key, prefix string) ([]string, error) {
	names := strings.Split(strings.TrimPrefix(key, prefix), "/")
	for i, name := range names {
		var err error
		if names[i], err = url.PathUnescape(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
