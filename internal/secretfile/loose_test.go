package secretfile

import (
	"io/fs"
	"testing"
)

func TestOnlyAFileOfRootIsReadableByItsGroup(t *testing.T) {
	const root, user = 0, 1000
	for _, c := range []struct {
		mode        fs.FileMode
		owner, user int
		loose       bool
	}{
		{0o600, user, user, false},
		{0o400, root, user, false},
		{0o440, root, user, false}, // a secret of Kubernetes with fsGroup
		{0o640, root, user, false},
		{0o444, root, user, true},
		{0o660, root, user, true},
		{0o640, user, user, true},
		{0o640, root, root, true},
		{0o440, -1, user, true},
	} {
		if got := loose(c.mode, c.owner, c.user); got != c.loose {
			t.Errorf("mode %04o of %d for %d: loose is %v", c.mode, c.owner, c.user, got)
		}
	}
}
