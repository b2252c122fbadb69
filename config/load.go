package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/providers/structs"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
	goyaml "go.yaml.in/yaml/v3"
)

// Sources are the sources of settings; later ones override earlier ones.
type Sources struct {
	File    string         // a YAML file; "" means none
	Environ []string       // KEY=value, as os.Environ gives them
	Flags   *pflag.FlagSet // as Flags defined them, parsed; nil means none
}

// EnvPrefix begins the names of environment variables that are settings. The rest is SECTION__KEY.
// Variables without the double underscore are ignored, since schedulers define names such as
// DORMOUSE_PORT.
const EnvPrefix = "DORMOUSE_"

// Load merges the sources over the defaults and validates the result. Its error is an *Error: a
// mistake in the configuration.
func Load(s Sources) (Config, error) {
	merged := koanf.New(".")
	if err := merged.Load(structs.Provider(Default(), "yaml"), nil); err != nil {
		return Config{}, fmt.Errorf("load the defaults: %w", err)
	}
	known := newKeys(merged.Keys())

	given := koanf.New(".")
	for _, read := range []func(Sources, keys) (*koanf.Koanf, error){readFile, readEnviron, readFlags} {
		layer, err := read(s, known)
		if err != nil {
			return Config{}, err
		}
		if err := given.Merge(layer); err != nil {
			return Config{}, fmt.Errorf("merge settings: %w", err)
		}
	}
	// The timing decides other defaults.
	if err := merged.Load(structs.Provider(DefaultFor(given.String("cluster.timing")), "yaml"), nil); err != nil {
		return Config{}, fmt.Errorf("load the defaults: %w", err)
	}
	if err := merged.Merge(given); err != nil {
		return Config{}, fmt.Errorf("merge settings: %w", err)
	}

	var c Config
	if err := merged.UnmarshalWithConf("", &c, koanf.UnmarshalConf{Tag: "yaml", DecoderConfig: decoder()}); err != nil {
		return Config{}, decodeError(err)
	}
	c.Resolve()
	if err := c.validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

func readFile(s Sources, known keys) (*koanf.Koanf, error) {
	layer := koanf.New(".")
	if s.File == "" {
		return layer, nil
	}
	if info, err := os.Stat(s.File); err != nil {
		return nil, problem("--config: cannot read the file: %v", err)
	} else if info.IsDir() {
		return nil, problem("--config: %s is a directory; name a YAML file", s.File)
	}
	if err := layer.Load(file.Provider(s.File), yaml.Parser()); err != nil {
		return nil, problem("%s: not readable as YAML: %v", s.File, err)
	}
	for _, key := range layer.Keys() {
		section, isSection := layer.Get(key).(map[string]any)
		if layer.Get(key) == nil || isSection && len(section) == 0 { // nothing after the colon
			layer.Delete(key)
		}
	}
	if err := resolvePaths(s.File, layer); err != nil {
		return nil, err
	}
	return layer, known.check(s.File, layer.Keys(), func(key string) string { return key })
}

func readEnviron(s Sources, known keys) (*koanf.Koanf, error) {
	layer := koanf.New(".")
	provider := env.Provider(".", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return s.Environ },
		TransformFunc: func(name, value string) (string, any) {
			name = strings.TrimPrefix(name, EnvPrefix)
			if !strings.Contains(name, "__") {
				return "", nil
			}
			key := strings.ToLower(strings.ReplaceAll(name, "__", "."))
			if known.structured(key) {
				var rules []any
				if goyaml.Unmarshal([]byte(value), &rules) == nil {
					return key, rules
				}
			}
			if known.list(key) {
				return key, split(value)
			}
			return key, value
		},
	})
	if err := layer.Load(provider, nil); err != nil {
		return nil, problem("environment: %v", err)
	}
	return layer, known.check("environment", layer.Keys(), envName)
}

// envName returns the environment variable of key.
func envName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
}

func split(list string) []string {
	out := []string{}
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

func readFlags(s Sources, _ keys) (*koanf.Koanf, error) {
	layer := koanf.New(".")
	if s.Flags == nil {
		return layer, nil
	}
	provider := posflag.ProviderWithFlag(s.Flags, ".", nil, func(f *pflag.Flag) (string, any) {
		key, ok := flagKeys[f.Name]
		if !ok || !f.Changed {
			return "", nil
		}
		return key, posflag.FlagVal(s.Flags, f)
	})
	if err := layer.Load(provider, nil); err != nil {
		return nil, problem("flags: %v", err)
	}
	return layer, nil
}
