package host

import (
	"strings"
	"testing"

	"dormouse/cluster/clustertest"
)

// A host under an address that no other member can dial would own partitions whose instances no call reaches.
func TestAHostNeedsAnAddressThatOthersCanDial(t *testing.T) {
	for _, c := range []struct{ listen, advertise, want string }{
		{"", "", ""},
		{"127.0.0.1:0", "", ""},
		{"10.0.0.9:7610", "", ""},
		{"app-1.local:7610", "", ""},
		{"0.0.0.0:7610", "10.0.0.9:7610", ""},
		{":0", "app-1.local:7610", ""},
		{":7610", "", "set Advertise"},
		{"0.0.0.0:7610", "", "set Advertise"},
		{"[::]:7610", "", "set Advertise"},
		{"[::ffff:0.0.0.0]:7610", "", "set Advertise"},
		{"10.0.0.9:7610", "0.0.0.0:7610", "set Advertise"},
		{"10.0.0.9:7610", ":7610", "set Advertise"},
		{"10.0.0.9:7610", "10.0.0.9:0", "set Advertise"},
		{"10.0.0.9:7610", "10.0.0.9", "write host:port"},
		{"7610", "", "write host:port"},
	} {
		o := Options{Name: "h", Join: []string{"n:7602"}, Key: clustertest.Keys.Current().Host().Encode(), Listen: c.listen, Advertise: c.advertise}
		switch _, err := o.withDefaults(); {
		case c.want == "" && err != nil:
			t.Errorf("listen %q, advertise %q: %v", c.listen, c.advertise, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("listen %q, advertise %q: %v, want %q", c.listen, c.advertise, err, c.want)
		}
	}
}
