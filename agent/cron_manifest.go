package agent

import (
	"bytes"

	"dormouse/internal/compactjson"

	"github.com/go-json-experiment/json/jsontext"
)

// CronSpecs returns the jobs of a manifest in its order, and the ids of the malformed
// ones, which it drops. A nil manifest has no jobs.
func CronSpecs(manifest JSON) (specs []CronSpec, dropped []string) {
	if len(manifest) == 0 || manifest[0] != '{' {
		return nil, nil
	}
	_ = compactjson.Members(manifest, func(rawName, value []byte) error { // the manifest was parsed before it was stored
		job, err := compactjson.Unquote(rawName)
		if err != nil {
			return err
		}
		if spec, err := readSpec(job, value); err == nil {
			specs = append(specs, spec)
		} else {
			dropped = append(dropped, job)
		}
		return nil
	})
	return specs, dropped
}

// PatchManifest applies changes to a manifest and drops malformed jobs. Unchanged jobs
// keep their place and bytes. next is nil if no job is left.
func PatchManifest(manifest JSON, changes []CronChange) (next JSON, dropped []string, err error) {
	at := make(map[string]int, len(changes))
	for i, change := range changes {
		at[change.Job] = i
	}
	met := make([]bool, len(changes))
	out := []byte{'{'}
	if len(manifest) > 0 && manifest[0] == '{' {
		err = compactjson.Members(manifest, func(rawName, value []byte) error {
			job, err := compactjson.Unquote(rawName)
			if err != nil {
				return err
			}
			i, touched := at[job]
			switch {
			case touched && changes[i].Set == nil:
			case touched:
				met[i] = true
				out = compactjson.AppendMember(out, rawName, changes[i].Set.json())
			default:
				if _, malformed := readSpec(job, value); malformed == nil {
					out = compactjson.AppendMember(out, rawName, value)
				} else {
					dropped = append(dropped, job)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for i, change := range changes {
		if change.Set != nil && !met[i] {
			name, err := jsontext.AppendQuote(nil, change.Job)
			if err != nil {
				return nil, nil, err
			}
			out = compactjson.AppendMember(out, name, change.Set.json())
		}
	}
	if len(out) == 1 {
		return nil, dropped, nil
	}
	return append(out, '}'), dropped, nil
}

// SplitCron returns the state without its manifest, and the manifest; nil if it has
// none.
func SplitCron(state JSON) (rest, manifest JSON, err error) {
	rest, err = compactjson.Without(state, StateCronKey)
	if err != nil || len(rest) == len(state) {
		return rest, nil, err
	}
	err = compactjson.Members(state, func(rawName, value []byte) error {
		name, err := compactjson.Unquote(rawName)
		if name == StateCronKey {
			manifest = bytes.Clone(value)
		}
		return err
	})
	return rest, manifest, err
}

// JoinCron replaces the manifest of a state. If the state has none, the manifest is
// added at the end; a nil manifest removes it.
func JoinCron(state, manifest JSON) (JSON, error) {
	out, put := append(make([]byte, 0, len(state)+len(manifest)+len(StateCronKey)+4), '{'), manifest == nil
	err := compactjson.Members(state, func(rawName, value []byte) error {
		name, err := compactjson.Unquote(rawName)
		switch {
		case name != StateCronKey:
			out = compactjson.AppendMember(out, rawName, value)
		case manifest != nil:
			out, put = compactjson.AppendMember(out, rawName, manifest), true
		}
		return err
	})
	if !put {
		out = compactjson.AppendMember(out, []byte(`"`+StateCronKey+`"`), manifest)
	}
	return append(out, '}'), err
}
