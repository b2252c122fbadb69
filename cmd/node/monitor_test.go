package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// calmed makes the test program begin as dormoused does, and print its environment.
const calmed = "DORMOUSE_TEST_CALMED"

func TestMain(m *testing.M) {
	if os.Getenv(calmed) == "" {
		os.Exit(m.Run())
	}
	calmMonitor(os.Environ())
	fmt.Print(os.Getpid(), " ", os.Getenv("GODEBUG"), " ", os.Args[1:])
}

func TestTheProgramBeginsAgainAsTheSameProcess(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("with one processor the monitor stays as it is")
	}
	for given, want := range map[string]string{
		"":                       monitorSetting,
		"madvdontneed=1":         "madvdontneed=1," + monitorSetting,
		"schedtrace=0,netdns=go": "schedtrace=0,netdns=go",
	} {
		child := exec.Command(os.Args[0], "one", "two")
		child.Env = append(os.Environ(), calmed+"=1", "GODEBUG="+given)
		out, err := child.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(child.Process.Pid, " ", want, " [one two]"); string(out) != want {
			t.Errorf("with %q it is %q, not %q", given, out, want)
		}
	}
}

func TestTheEnvironmentKeepsTheRest(t *testing.T) {
	given := []string{"PATH=/bin", "GODEBUG=netdns=go", "GODEBUGGER=x"}
	with, changed := withMonitorSetting(given)
	if want := []string{"PATH=/bin", "GODEBUGGER=x", "GODEBUG=netdns=go," + monitorSetting}; !changed || !slices.Equal(with, want) {
		t.Errorf("%q, changed %t", with, changed)
	}
	if again, changed := withMonitorSetting(with); changed || !slices.Equal(again, with) {
		t.Errorf("a second time: %q, changed %t", again, changed)
	}
}
