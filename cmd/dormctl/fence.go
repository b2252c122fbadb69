package main

import (
	"fmt"
	"strconv"
	"strings"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// fenceFlag is the value of --fence, CLAIM@EPOCH. The claim may hold an @ too.
type fenceFlag struct{ fence *agent.Fence }

// Set implements pflag.Value.
func (f *fenceFlag) Set(text string) error {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return fmt.Errorf("it names no epoch: use CLAIM@EPOCH, as in jobs@65537")
	}
	epoch, err := strconv.ParseUint(text[at+1:], 10, 64)
	if err != nil || at == 0 {
		return fmt.Errorf("use CLAIM@EPOCH, as in jobs@65537")
	}
	f.fence = &agent.Fence{Claim: text[:at], Epoch: epoch}
	return nil
}

func (f *fenceFlag) String() string {
	if f.fence == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", f.fence.Claim, f.fence.Epoch)
}

// Type implements pflag.Value.
func (*fenceFlag) Type() string { return "CLAIM@EPOCH" }

// join puts the fence on a commit, which may bring the same one.
func (f *fenceFlag) join(c *agent.Commit) error {
	switch {
	case f.fence == nil:
	case c.Fence == nil:
		c.Fence = f.fence
	case *c.Fence != *f.fence:
		return cli.Usagef("the commit is fenced by %s@%d, --fence says %s", c.Fence.Claim, c.Fence.Epoch, f)
	}
	return nil
}
