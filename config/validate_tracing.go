package config

import (
	"net/url"
	"time"
)

// slowCallMax is the most of log.slow_call: no call takes longer.
const slowCallMax = 10 * time.Minute

func (c Config) validateTracing(v *checks) {
	if c.Log.SlowCall < 0 || c.Log.SlowCall > slowCallMax {
		v.add("log.slow_call is %v: use 0 to %v", c.Log.SlowCall, slowCallMax)
	}
	t := c.Tracing
	if !(t.Sample >= 0 && t.Sample <= 1) { // also not a number
		v.add("tracing.sample is %v: use a share from 0 to 1, such as 0.01", t.Sample)
	}
	if t.Endpoint != "" {
		u, err := url.Parse(t.Endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.add("tracing.endpoint is %q: use the http or https URL of a collector, such as http://127.0.0.1:4318", t.Endpoint)
		} else if t.HeadersFile != "" { // it may hold the key of an account
			checkURL(v, "tracing.headers_file is set, and tracing.endpoint", t.Endpoint, c.Node.Insecure)
		}
	}
	checkFile(v, "tracing.headers_file", t.HeadersFile)
	checkFile(v, "tracing.ca_file", t.CAFile)
}
