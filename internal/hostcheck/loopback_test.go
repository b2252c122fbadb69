package hostcheck

import "testing"

// A secret may be sent in plain text to these addresses only.
func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "localhost:1": true, "LOCALHOST:1": true,
		"10.0.0.1:1": false, "0.0.0.0:1": false, ":1": false, "localhost.example.com:1": false, "127.0.0.1.example.com:1": false, "127.0.0.1": false, "": false,
	} {
		if got := Loopback(addr); got != want {
			t.Errorf("%q: %v", addr, got)
		}
	}
}
