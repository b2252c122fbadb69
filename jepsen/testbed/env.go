package testbed

import (
	"maps"
	"os"
	"slices"
	"strings"

	"dormouse/client"
	"dormouse/internal/failpoint"
)

// bareEnv returns the harness's environment without DORMOUSE_ variables.
func (*Bed) bareEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "DORMOUSE_") })
}

// env returns the environment of the host's node: the harness's environment without
// DORMOUSE_ variables, and the settings of the run.
func (h *Host) env() []string {
	env := h.bed.bareEnv()
	settings := maps.Clone(h.bed.options.Env)
	if own := h.bed.options.EnvOf; own != nil && h.program == nil {
		if settings == nil {
			settings = map[string]string{}
		}
		maps.Copy(settings, own(h.name))
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		env = append(env, name+"="+settings[name])
	}
	if h.program != nil { // it calls the nodes as a client
		env = append(env, client.EnvTokenFile+"="+h.bed.keyPath(rootTokenFile))
		if h.bed.TLS() != nil {
			env = append(env, client.EnvCA+"="+h.bed.keyPath(authorityFile))
		}
	}
	if h.bed.can[CanFailpoint] && h.program == nil {
		env = append(env, failpoint.Variable+"="+h.failpointPath())
	}
	if h.bed.options.Backups && h.program == nil && h.apart == "" {
		env = append(env, "DORMOUSE_BACKUP__URL="+h.bed.BackupURL(), "DORMOUSE_BACKUP__LOG_EVERY=1s")
	}
	if scope := h.bed.options.RedisScope; scope != "" && h.program == nil && h.apart == "" {
		env = append(env, "DORMOUSE_REDIS__ADDR="+Redis(h), "DORMOUSE_REDIS__SCOPE="+scope)
	}
	if h.clock != nil {
		env = append(env, h.clock.Setting())
	}
	return env
}
