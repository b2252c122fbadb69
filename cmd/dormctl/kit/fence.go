package kit

import (
	"fmt"
	"strconv"
	"strings"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// fenceFlag is the value of --fence, CLAIM@EPOCH. The claim's name may contain an @.
type fenceFlag struct{ Fence *agent.Fence }

// Set implements pflag.Value.
func (f *fenceFlag) Set(text string) error {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return fmt.Errorf("the epoch is missing: use CLAIM@EPOCH, as in jobs@65537")
	}
	epoch, err := strconv.ParseUint(text[at+1:], 10, 64)
	if err != nil || at == 0 {
		return fmt.Errorf("use CLAIM@EPOCH, as in jobs@65537")
	}
	f.Fence = &agent.Fence{Claim: text[:at], Epoch: epoch}
	return nil
}

func (f *fenceFlag) String() string {
	if f.Fence == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", f.Fence.Claim, f.Fence.Epoch)
}

// Type implements pflag.Value.
func (*fenceFlag) Type() string { return "CLAIM@EPOCH" }

// join sets the fence of c. It returns a usage error if c has a different fence.
func (f *fenceFlag) join(c *agent.Commit) error {
	switch {
	case f.Fence == nil:
	case c.Fence == nil:
		c.Fence = f.Fence
	case *c.Fence != *f.Fence:
		return cli.Usagef("the commit is fenced by %s@%d, --fence says %s", c.Fence.Claim, c.Fence.Epoch, f)
	}
	return nil
}
