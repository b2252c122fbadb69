package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/knadh/koanf/v2"
)

// isPath reports whether a setting names a file or a directory.
func isPath(key string) bool {
	return key == "node.data_dir" || key == "audit.dir" || key == "backup.program" || strings.HasSuffix(key, "_file")
}

// resolvePaths makes relative paths in a file's settings relative to that file. Those of the environment
// and of flags stay relative to the working directory.
func resolvePaths(file string, layer *koanf.Koanf) error {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return problem("--config: cannot tell where %s is: %v", file, err)
	}
	resolve := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, key := range layer.Keys() {
		if path, ok := layer.Get(key).(string); ok && isPath(key) {
			if err := layer.Set(key, resolve(path)); err != nil {
				return problem("%s: %s: %v", file, key, err)
			}
		}
	}
	const signing = "instances.keys" // name@host/scope=file
	if !layer.Exists(signing) {
		return nil
	}
	keys := layer.Strings(signing)
	for i, key := range keys {
		if name, path, ok := strings.Cut(key, "="); ok {
			keys[i] = name + "=" + resolve(path)
		}
	}
	if len(keys) == 0 {
		return nil // of another type, which is refused later
	}
	if err := layer.Set(signing, keys); err != nil {
		return problem("%s: %s: %v", file, signing, err)
	}
	return nil
}

// absolute returns c with absolute paths, resolved from the working directory.
func (c Config) absolute() (Config, error) {
	c.Instances.Keys = append([]string{}, c.Instances.Keys...)
	for name, field := range c.fields() {
		path, ok := field.Addr().Interface().(*string)
		if !ok || *path == "" || !isPath(name) {
			continue
		}
		resolved, err := filepath.Abs(*path)
		if err != nil {
			return c, fmt.Errorf("resolve %s: %w", *path, err)
		}
		*path = resolved
	}
	for i, key := range c.Instances.Keys {
		name, path, ok := strings.Cut(key, "=")
		if !ok {
			continue
		}
		resolved, err := filepath.Abs(path)
		if err != nil {
			return c, fmt.Errorf("resolve %s: %w", path, err)
		}
		c.Instances.Keys[i] = name + "=" + resolved
	}
	return c, nil
}
