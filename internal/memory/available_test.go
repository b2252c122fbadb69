package memory

import (
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The budget is the setting, or what there is: the cgroup's limit if it is below the machine's memory.
func TestTheBudgetIsTheMemoryThatThereIs(t *testing.T) {
	no := func(err error) memlimit.Provider { return func() (uint64, error) { return 0, err } }
	const machine = 8 << 30
	for name, c := range map[string]struct {
		setting         int64
		cgroup, machine memlimit.Provider
		want            Budget
	}{
		"a setting":                     {64 << 20, memlimit.Limit(2 << 30), memlimit.Limit(machine), Budget{64 << 20, Setting}},
		"a setting above the limit":     {1 << 40, memlimit.Limit(2 << 30), memlimit.Limit(machine), Budget{1 << 40, Setting}},
		"a limit":                       {0, memlimit.Limit(2 << 30), memlimit.Limit(machine), Budget{2 << 30, Cgroup}},
		"a limit above the machine":     {0, memlimit.Limit(machine + 1), memlimit.Limit(machine), Budget{machine, Machine}},
		"a limit, and no machine":       {0, memlimit.Limit(2 << 30), no(memlimit.ErrNoLimit), Budget{2 << 30, Cgroup}},
		"a tiny limit":                  {0, memlimit.Limit(1), memlimit.Limit(machine), Budget{1, Cgroup}},
		"no cgroup":                     {0, no(memlimit.ErrNoCgroup), memlimit.Limit(machine), Budget{machine, Machine}},
		"a system without cgroups":      {0, no(memlimit.ErrCgroupsNotSupported), memlimit.Limit(machine), Budget{machine, Machine}},
		"a cgroup whose limit is max":   {0, no(memlimit.ErrNoLimit), memlimit.Limit(machine), Budget{machine, Machine}},
		"no limit in version 1":         {0, memlimit.Limit(9223372036854771712), memlimit.Limit(machine), Budget{machine, Machine}},
		"no limit, the largest number":  {0, memlimit.Limit(1<<64 - 1), no(memlimit.ErrNoLimit), Budget{unknownBytes, Unknown}},
		"a limit of zero":               {0, memlimit.Limit(0), memlimit.Limit(machine), Budget{machine, Machine}},
		"neither a limit nor a machine": {0, no(memlimit.ErrNoCgroup), no(memlimit.ErrNoLimit), Budget{unknownBytes, Unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := find(c.setting, c.cgroup, c.machine); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestABudgetReadsAsASizeAndItsSource(t *testing.T) {
	if got, want := (Budget{2 << 30, Cgroup}).String(), "2.0 GiB (the limit of the cgroup)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// This machine has some memory, whatever its system.
func TestFindFindsSomething(t *testing.T) {
	if b := Find(0); b.Bytes < 64<<20 {
		t.Errorf("found %v", b)
	}
}
