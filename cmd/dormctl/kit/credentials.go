package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"dormouse/access"
	"dormouse/client"
	"dormouse/internal/cli"
)

// The environment variables of the token, and of the file that holds it.
const (
	TokenEnv     = client.EnvToken
	TokenFileEnv = client.EnvTokenFile
)

// credentials are the tokens of this user, by the address of a node.
type credentials struct {
	Endpoints map[string]string `json:"endpoints"`
}

// CredentialsFile returns the path of the tokens that "dormctl login" has stored; "" if there is no
// directory for them.
func (a *App) CredentialsFile() string {
	if a.ConfigDir == nil {
		return ""
	}
	dir, err := a.ConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "dormouse", "credentials.json")
}

// Token returns the token for endpoints: that of --token-file, of the environment, or of the last
// login; "" if there is none.
func (a *App) Token(endpoints []string) (string, error) {
	if a.Secret != "" {
		return a.Secret, nil
	}
	file := a.TokenFile
	if file == "" && a.Getenv(TokenEnv) == "" {
		file = a.Getenv(TokenFileEnv)
	}
	if file != "" {
		token, err := access.ReadBearerFile(file)
		if err != nil {
			return "", cli.Usagef("--token-file: %w", err)
		}
		return token, nil
	}
	if token := a.Getenv(TokenEnv); token != "" {
		return token, nil
	}
	stored, err := a.credentials()
	if err != nil {
		return "", err
	}
	for _, endpoint := range endpoints {
		if token := stored.Endpoints[endpoint]; token != "" {
			return token, nil
		}
	}
	return "", nil
}

func (a *App) credentials() (credentials, error) {
	none := credentials{Endpoints: map[string]string{}}
	path := a.CredentialsFile()
	if path == "" {
		return none, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, cli.Usagef("read the stored tokens: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return none, cli.Usagef("read the stored tokens: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return none, cli.Usagef("other users can access %s (mode %04o), which holds tokens: run chmod 600 %s", path, mode, path)
	}
	stored := none
	if err := json.Unmarshal(raw, &stored); err != nil {
		return none, cli.Usagef("%s is damaged: remove it, and log in again: %w", path, err)
	}
	if stored.Endpoints == nil {
		stored.Endpoints = map[string]string{}
	}
	return stored, nil
}

// Remember stores a token for endpoints, readable by this user only. It forgets theirs if token is
// "". It returns the file.
func (a *App) Remember(endpoints []string, token string) (string, error) {
	path := a.CredentialsFile()
	if path == "" {
		return "", fmt.Errorf("there is no directory for this user's configuration: set HOME, or use --token-file")
	}
	stored, err := a.credentials()
	if err != nil {
		return "", err
	}
	for _, endpoint := range endpoints {
		if token == "" {
			delete(stored.Endpoints, endpoint)
			continue
		}
		stored.Endpoints[endpoint] = token
	}
	raw, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode the tokens: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("store the token: %w", err)
	}
	if err := renameio.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("store the token: %w", err)
	}
	return path, nil
}
