package gossip

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func ips(text string) []net.IP {
	var all []net.IP
	for one := range strings.FieldsSeq(text) {
		all = append(all, net.ParseIP(one))
	}
	return all
}

// Each case is what a name is looked up as, first when the node starts; "!" is a failure. After each later lookup the
// warning says what is expected, "" for none.
func TestANodeWarnsOfAnAdvertisedNameThatDoesNotLeadToIt(t *testing.T) {
	const loopback, moved = "loopback address", "another address"
	for name, c := range map[string]struct {
		host, bind      string
		found, warnings []string
		ip              string
	}{
		"an IP address":        {"10.0.0.1", "0.0.0.0", []string{"!", "!"}, []string{""}, "10.0.0.1"},
		"a loopback IP":        {"127.0.0.1", "0.0.0.0", []string{"!", "!"}, []string{""}, "127.0.0.1"},
		"a name":               {"n1", "0.0.0.0", []string{"10.0.0.1", "10.0.0.1"}, []string{""}, "10.0.0.1"},
		"IPv4 is preferred":    {"n1", "", []string{"fd00::1 10.0.0.1", "fd00::1 10.0.0.1"}, []string{""}, "10.0.0.1"},
		"only IPv6":            {"n1", "::", []string{"fd00::1", "fd00::1"}, []string{""}, "fd00::1"},
		"Debian's own name":    {"n1", "", []string{"127.0.1.1", "127.0.1.1", "127.0.1.1"}, []string{loopback, ""}, "127.0.1.1"},
		"all on one machine":   {"n1", "127.0.1.1", []string{"127.0.1.1", "127.0.1.1"}, []string{""}, "127.0.1.1"},
		"bound to localhost":   {"n1", "localhost", []string{"127.0.0.1", "127.0.0.1"}, []string{""}, "127.0.0.1"},
		"it moves":             {"n1", "", []string{"10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3"}, []string{moved, "", moved}, "10.0.0.1"},
		"it moves and is back": {"n1", "", []string{"10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2"}, []string{moved, "", moved}, "10.0.0.1"},
		"one of its addresses": {"n1", "", []string{"10.0.0.1 10.0.0.2", "10.0.0.2 10.0.0.1"}, []string{""}, "10.0.0.1"},
		"it is not found":      {"n1", "", []string{"10.0.0.1", "!", "10.0.0.1"}, []string{"", ""}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			find := func(context.Context, string) ([]net.IP, error) {
				found := c.found[0]
				if c.found = c.found[1:]; found == "!" {
					return nil, errors.New("no such host")
				}
				return ips(found), nil
			}
			a, err := advertise(c.host, c.bind, find)
			if err != nil || !a.ip.Equal(net.ParseIP(c.ip)) {
				t.Fatalf("%v, %v; expected %s", a.ip, err, c.ip)
			}
			var out bytes.Buffer
			log := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Warn})
			for i, expected := range c.warnings {
				out.Reset()
				a.check(t.Context(), log)
				if got := out.String(); (got == "") != (expected == "") || !strings.Contains(got, expected) {
					t.Errorf("check %d: %q, expected %q", i, got, expected)
				}
			}
		})
	}
	if _, err := advertise("n1", "", func(context.Context, string) ([]net.IP, error) { return nil, errors.New("no such host") }); err == nil {
		t.Error("a name that is not found is advertised")
	}
}
