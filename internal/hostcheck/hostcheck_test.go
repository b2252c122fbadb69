package hostcheck

import "testing"

func TestAllowed(t *testing.T) {
	names := []string{"n1.example.com", "Agents"}
	for host, want := range map[string]bool{
		"":                         true,
		"localhost":                true,
		"LOCALHOST:7600":           true,
		"app.localhost:7600":       true,
		"127.0.0.1:7600":           true,
		"10.1.2.3":                 true,
		"[::1]:7600":               true,
		"[::1]":                    true,
		"n1.example.com":           true,
		"N1.Example.COM.:7600":     true,
		"agents:80":                true,
		"evil.example":             false,
		"evil.example:7600":        false,
		"localhost.evil.example":   false,
		"127.0.0.1.evil.example":   false,
		"notlocalhost":             false,
		"n1.example.com.evil.test": false,
		"[evil]:7600":              false,
	} {
		if got := Allowed(host, names); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
