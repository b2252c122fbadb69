package identity

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func login(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Store a token for this user and these endpoints", Args: cli.Exactly(),
		Long: `login reads a token from --token-file or stdin, checks it against the cluster, and
stores it in this user's configuration. Only this user can read the file. Later
commands with the same --endpoints use the token, unless --token-file or
` + kit.TokenEnv + ` gives another.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.TokenFile == "" {
				secret, err := ask(a)
				if err != nil {
					return err
				}
				a.Secret = secret
			}
			endpoints, err := a.EndpointList()
			if err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				who, err := s.WhoAmI(ctx)
				if err != nil {
					return err
				}
				if who.Name == "" {
					return fmt.Errorf("the node asks for no credentials: there is nothing to log in to")
				}
				secret, err := a.Token(endpoints)
				if err != nil {
					return err
				}
				path, err := a.Remember(endpoints, secret)
				if err != nil {
					return err
				}
				a.Tell("logged in to %s as %s; the token is in %s", strings.Join(endpoints, ","), who.Name, path)
				return nil
			})
		},
	}
}

// ask reads a token from stdin, without echo on a terminal.
func ask(a *kit.App) (string, error) {
	var text string
	if file, ok := a.Stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		_, _ = fmt.Fprint(a.Stderr, "token: ")
		raw, err := term.ReadPassword(int(file.Fd()))
		_, _ = fmt.Fprintln(a.Stderr)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		text = string(raw)
	} else {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, 16<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the token: %w", err)
		}
		text = line
	}
	text = strings.TrimSpace(text)
	if err := access.CheckBearer(text); err != nil {
		return "", cli.Usagef("%w", err)
	}
	return text, nil
}

func logout(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Delete the stored token of these endpoints; the token stays valid", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			endpoints, err := a.EndpointList()
			if err != nil {
				return err
			}
			path, err := a.Remember(endpoints, "")
			if err != nil {
				return err
			}
			a.Tell("removed the token of %s from %s", strings.Join(endpoints, ","), path)
			return nil
		},
	}
}

func whoAmI(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show the principal of this caller and its rights", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				who, err := s.WhoAmI(ctx)
				if err != nil {
					return err
				}
				out := document.Principal{Principal: who.Name, Grants: document.GrantsOf(who.Grants), TokenID: who.TokenID, Source: string(who.Source), Auth: layout.AuthTokens}
				var g cli.Grid
				if who.Name == "" {
					out.Auth = layout.AuthOff
					g.Add("principal", "none: the node asks for no credentials, and every caller may do everything")
					return a.Print(out, g)
				}
				g.Add("principal", who.Name)
				g.Add("token", cli.OrDash(who.TokenID))
				for _, grant := range who.Grants {
					g.Add("grants", rights([]agent.Grant{grant}))
				}
				return a.Print(out, g)
			})
		},
	}
}
