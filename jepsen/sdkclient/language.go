package sdkclient

import (
	"bytes"
	"context"
	_ "embed" // the programs
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Language is a language that a library is written in.
type Language struct {
	ID      string // lower case, as the history has it
	Name    string
	prepare func(ctx context.Context, library, dir string) (Command, error)
}

// MissingError says what a language needs, and this machine lacks.
type MissingError string

func (e MissingError) Error() string { return string(e) }

// Command starts the program that calls with a library.
type Command struct {
	Args      []string
	Env       []string // beside the variables of this package
	Authority string   // the variable that names the certificate authority of the nodes
}

// Languages returns the languages of the libraries that a process can call with.
func Languages() []Language {
	return []Language{
		{ID: "python", Name: "Python", prepare: preparePython},
		{ID: "typescript", Name: "TypeScript", prepare: prepareTypeScript},
		{ID: "elixir", Name: "Elixir", prepare: prepareElixir},
	}
}

// Prepare compiles the library of a checkout, whose directory is root, into dir, which only this language uses. The error is
// a MissingError if this machine lacks the language.
func (l Language) Prepare(ctx context.Context, root, dir string) (Command, error) {
	library := map[string]string{"typescript": "js"}[l.ID]
	if library == "" {
		library = l.ID
	}
	root, errRoot := filepath.Abs(root)
	dir, errDir := filepath.Abs(dir)
	if err := errors.Join(errRoot, errDir); err != nil {
		return Command{}, err
	}
	library = filepath.Join(root, "sdk", library)
	if _, err := os.Stat(library); err != nil {
		return Command{}, MissingError(fmt.Sprintf("the library for %s is not there: %v", l.Name, err))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Command{}, err
	}
	return l.prepare(ctx, library, dir)
}

// The texts of the programs.
var (
	//go:embed caller.py
	callerPython string
	//go:embed caller.mjs
	callerTypeScript []byte
	//go:embed caller.exs
	callerElixir []byte
)

func preparePython(ctx context.Context, library, _ string) (Command, error) {
	if execute(ctx, library, nil, "python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))") != nil {
		return Command{}, MissingError("there is no python3 of version 3.11 or newer")
	}
	return Command{
		Args: []string{"python3", "-c", callerPython}, Env: []string{"PYTHONPATH=" + library, "PYTHONDONTWRITEBYTECODE=1"}, Authority: EnvCA,
	}, nil
}

// prepareTypeScript builds the package as a user's program finds it, in node_modules.
func prepareTypeScript(ctx context.Context, library, dir string) (Command, error) {
	if execute(ctx, library, nil, "node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)") != nil {
		return Command{}, MissingError("there is no node of version 20 or newer")
	}
	compiler := filepath.Join(library, "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		return Command{}, MissingError("sdk/js has no compiler: run npm --prefix sdk/js ci")
	}
	installed := filepath.Join(dir, "node_modules", "@dormouse", "client")
	// make sdk-js checks the types.
	if err := execute(ctx, library, nil, "node", compiler, "-p", library, "--noCheck", "--declaration", "false", "--outDir", filepath.Join(installed, "dist")); err != nil {
		return Command{}, fmt.Errorf("compile the library for TypeScript: %w", err)
	}
	about, err := os.ReadFile(filepath.Join(library, "package.json"))
	if err != nil {
		return Command{}, err
	}
	program := filepath.Join(dir, "caller.mjs")
	err = errors.Join(os.WriteFile(filepath.Join(installed, "package.json"), about, 0o644), os.WriteFile(program, callerTypeScript, 0o644))
	return Command{Args: []string{"node", program}, Authority: "NODE_EXTRA_CA_CERTS"}, err
}

// elixirOptions are the settings of Erlang: names of files are UTF-8, and threads without work sleep at once.
const elixirOptions = "ELIXIR_ERL_OPTIONS=+fnu +sbwt none"

func prepareElixir(ctx context.Context, library, dir string) (Command, error) {
	for _, program := range []string{"elixir", "mix"} {
		if _, err := exec.LookPath(program); err != nil {
			return Command{}, MissingError("there is no " + program)
		}
	}
	if err := execute(ctx, library, []string{elixirOptions, "MIX_ENV=prod", "MIX_BUILD_PATH=" + dir}, "mix", "compile"); err != nil {
		return Command{}, fmt.Errorf("compile the library for Elixir: %w", err)
	}
	program := filepath.Join(dir, "caller.exs")
	return Command{
		Args: []string{"elixir", "-pa", filepath.Join(dir, "lib", "dormouse", "ebin"), program}, Env: []string{elixirOptions}, Authority: EnvCA,
	}, os.WriteFile(program, callerElixir, 0o644)
}

// execute runs a command in a directory, with environment variables beside this process's own.
func execute(ctx context.Context, dir string, env []string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
