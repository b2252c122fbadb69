package deploytest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"dormouse/config"
)

// load returns the configuration that an environment makes. Files that it names are created, since
// Load checks that they are there.
func load(t *testing.T, environ map[string]string, file string) config.Config {
	t.Helper()
	var list []string
	for name, value := range environ {
		if strings.HasSuffix(name, "_FILE") && strings.HasPrefix(name, "DORMOUSE_") {
			value = filepath.Join(t.TempDir(), filepath.Base(value))
			if err := os.WriteFile(value, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, name+"="+value)
	}
	c, err := config.Load(config.Sources{Environ: list, File: file})
	if err != nil {
		t.Fatalf("%v\nof %v", err, list)
	}
	return c
}

// together fails the test unless nodes found one cluster, with TLS and tokens.
func together(t *testing.T, nodes []config.Config) {
	t.Helper()
	if len(nodes) != nodes[0].Cluster.Expect {
		t.Errorf("%d nodes, and they expect %d", len(nodes), nodes[0].Cluster.Expect)
	}
	names := make(map[string]bool)
	for _, c := range nodes {
		names[c.Node.ID] = true
		if c.Node.Insecure || !c.Issued(c.HTTP.Listen()) || !c.Issued(c.GRPC) || !c.Issued(c.Raft.Listen()) {
			t.Errorf("%s does not serve TLS everywhere", c.Node.ID)
		}
		if c.Auth.RootTokenFile == "" || c.Cluster.KeyFile == "" {
			t.Errorf("%s has no root token or no cluster key", c.Node.ID)
		}
		if !strings.HasPrefix(c.Raft.Advertise, c.Node.ID) {
			t.Errorf("%s advertises %s", c.Node.ID, c.Raft.Advertise)
		}
	}
	if len(names) != len(nodes) {
		t.Errorf("the nodes are named %v", names)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestComposeFoundsASecuredCluster(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Environment map[string]string `yaml:"environment"`
		} `yaml:"services"`
	}
	if err := yaml.Unmarshal(read(t, "../../deploy/compose/compose.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	var nodes []config.Config
	for _, name := range []string{"n1", "n2", "n3"} {
		nodes = append(nodes, load(t, file.Services[name].Environment, ""))
	}
	together(t, nodes)
}

func TestTheStatefulSetFoundsASecuredCluster(t *testing.T) {
	type set struct {
		Kind string `yaml:"kind"`
		Spec struct {
			Replicas int `yaml:"replicas"`
			Template struct {
				Spec struct {
					Containers []struct {
						Env []struct {
							Name, Value string
						} `yaml:"env"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	documents := yaml.NewDecoder(bytes.NewReader(read(t, "../../deploy/kubernetes/dormouse.yaml")))
	found := false
	for {
		var s set
		err := documents.Decode(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind != "StatefulSet" {
			continue
		}
		found = true
		var nodes []config.Config
		for _, pod := range []string{"dormouse-0", "dormouse-1", "dormouse-2"}[:s.Spec.Replicas] {
			environ := make(map[string]string)
			for _, e := range s.Spec.Template.Spec.Containers[0].Env {
				environ[e.Name] = strings.ReplaceAll(e.Value, "$(DORMOUSE_NODE__ID)", pod)
			}
			environ["DORMOUSE_NODE__ID"] = pod // from the pod's metadata
			nodes = append(nodes, load(t, environ, ""))
		}
		together(t, nodes)
	}
	if !found {
		t.Error("the manifest has no StatefulSet")
	}
}

func TestTheConfigurationOfTheUnitIsValid(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cluster.key", "root.token"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "dormouse.yaml")
	if err := os.WriteFile(file, read(t, "../../deploy/systemd/dormouse.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, nil, file)
	if c.Cluster.Expect != 3 || !c.Issued(c.HTTP.Listen()) || c.Auth.RootTokenFile != filepath.Join(dir, "root.token") {
		t.Errorf("%+v", c)
	}
}

// The pages name units that deploy/systemd has.
func TestThePagesNameTheUnit(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages {
		for line := range strings.Lines(string(read(t, page))) {
			command, _, _ := strings.Cut(line, "#")
			words := strings.Fields(command)
			if len(words) < 3 || words[0] != "systemctl" {
				continue
			}
			named++
			if _, err := os.Stat("../../deploy/systemd/" + words[len(words)-1] + ".service"); err != nil {
				t.Errorf("%s: %q: %v", page, strings.TrimSpace(command), err)
			}
		}
	}
	if named < 2 {
		t.Errorf("%d commands were found", named)
	}
}
