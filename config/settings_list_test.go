package config_test

import (
	"testing"

	"dormouse/config"
)

// The list of settings has each one with its default, and no secrets of URLs.
func TestSettingsAreListedWithoutSecrets(t *testing.T) {
	c := config.Default()
	c.HTTP.Addr = "10.0.0.1:7600"
	c.Cluster.Join = []string{"a:7602", "b:7602"}
	c.HTTP.Origins = []string{"https://app.example.com", "http://localhost:3000"}
	c.Backup.URL = "s3://bucket/at?secret_key=x"
	c.Audit.WebhookURL = "https://user:password@example.com/hook?token=x"
	found := map[string]config.Setting{}
	for _, s := range c.Settings() {
		found[s.Name] = s
	}
	for _, want := range []config.Setting{
		{"http.addr", "10.0.0.1:7600", "127.0.0.1:7600"},
		{"cluster.join", "['a:7602', 'b:7602']", "[]"},
		{"http.origins", "['https://app.example.com', 'http://localhost:3000']", "[]"},
		{"node.stop_timeout", "20s", "20s"},
		{"backup.url", "s3://bucket/at", ""},
		{"audit.webhook_url", "https://example.com/hook", ""},
		{"http.compress", "true", "true"},
		{"tracing.sample", "0.01", "0.01"},
	} {
		if got := found[want.Name]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
