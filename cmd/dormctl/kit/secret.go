package kit

import (
	"errors"
	"fmt"
	"io/fs"

	"dormouse/internal/secretfile"
)

// CreateSecret writes a secret to a file with mode 0600, and tells so. A file that exists stays
// as it is, so that a start script may create its secrets each time.
func (a *App) CreateSecret(file, secret string) error {
	err := secretfile.Create(file, secret)
	if errors.Is(err, fs.ErrExist) {
		return a.Event(map[string]any{"file": file, "created": false}, file+" exists: it is unchanged")
	}
	if err != nil {
		return fmt.Errorf("write the secret: %w", err)
	}
	return a.Event(map[string]any{"file": file, "created": true}, "wrote "+file)
}
