package testbed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func (h *Host) failpointPath() string { return filepath.Join(h.dir, "failpoint") }

// Failpoint orders what the host's processes do at a point: "POINT crash", or
// "POINT DURATION" to wait. "" ends the order.
func (h *Host) Failpoint(order string) error {
	if order == "" {
		if err := os.Remove(h.failpointPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	fresh := h.failpointPath() + ".new" // a process must not read half an order
	if err := os.WriteFile(fresh, []byte(order), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, h.failpointPath())
}
