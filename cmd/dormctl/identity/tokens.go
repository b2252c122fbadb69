package identity

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// span is the value of --ttl: a duration, which may be in days.
type span struct{ time.Duration }

// Set implements pflag.Value. It refuses a ttl of zero, which would be a token that never expires.
func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return errors.New("use a number of days such as 30d, or a duration such as 12h, above zero")
	}
	s.Duration = d
	return nil
}

// Type implements pflag.Value.
func (*span) Type() string { return "duration" }

func (s *span) String() string {
	if s.Duration == 0 {
		return ""
	}
	return s.Duration.String()
}

func create(a *kit.App) *cobra.Command {
	var op agent.PutToken
	var scopes, verbs []string
	var ttl span
	cmd := &cobra.Command{
		Use: "create --principal NAME --can VERBS [--scope SCOPE]", Short: "Create a token, and show its secret once", Args: cli.Exactly(),
		Example: `  dormctl tokens create --principal ci --scope 'team-*' --can read,write --ttl 30d
  dormctl tokens create --principal prometheus --can cluster:read`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if op.Principal == "" || len(verbs) == 0 {
				return cli.Usagef("give --principal and --can")
			}
			op.Grants, op.TTL = grantsOf(scopes, verbs), ttl.Duration
			return put(a, cmd, op)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&op.Principal, "principal", "", "name of the caller that the token is for")
	flags.StringSliceVar(&scopes, "scope", nil, "scope, or prefix such as team-*, that the verbs apply to; repeatable")
	flags.StringSliceVar(&verbs, "can", nil, "verbs, comma-separated")
	flags.Var(&ttl, "ttl", "how long the token is valid, such as 30d; without it, until it is revoked")
	return cmd
}

// grantsOf returns the grants of flags: scope verbs on the scopes, and cluster verbs apart.
func grantsOf(scopes, verbs []string) []agent.Grant {
	scoped, cluster := agent.Grant{Scopes: scopes}, agent.Grant{}
	for _, text := range verbs {
		verb := agent.Verb(text)
		if verb.OfCluster() {
			cluster.Verbs = append(cluster.Verbs, verb)
			continue
		}
		scoped.Verbs = append(scoped.Verbs, verb)
	}
	var grants []agent.Grant
	if len(scoped.Verbs) > 0 || len(scopes) > 0 {
		grants = append(grants, scoped)
	}
	if len(cluster.Verbs) > 0 {
		grants = append(grants, cluster)
	}
	return grants
}

// put creates a token and shows it with its secret. The secret is made here.
func put(a *kit.App, cmd *cobra.Command, op agent.PutToken) error {
	secret := access.NewSecret()
	op.Hash = agent.HashToken(secret)
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Submit(ctx, s, agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{&op}})
		var commit *kit.CommitError
		if errors.As(err, &commit) { // the same command makes another secret
			commit.Settle = fmt.Sprintf("dormctl tokens revoke %s revokes the token if it was created, as its secret is lost; then create another", op.Hash.TokenID())
		}
		if err != nil {
			return err
		}
		created, err := kit.ResultOf[*agent.TokenResult](result, 0)
		if err != nil {
			return err
		}
		t := created.Token
		var g cli.Grid
		g.Add("id", t.ID)
		g.Add("principal", t.Principal)
		g.Add("grants", rights(t.Grants))
		g.Add("expires", whenOrNever(t.ExpiresAt))
		g.Add("token", secret)
		g.Note = "the token is shown once: the cluster keeps a hash only"
		return a.Print(document.CreatedToken{Token: document.TokenOf(t), Secret: secret}, g)
	})
}

func whenOrNever(at int64) string {
	if at == 0 {
		return "never"
	}
	return cli.When(at)
}

// rights returns grants as one line, such as "read,write on team-*; cluster:read".
func rights(grants []agent.Grant) string {
	lines := make([]string, len(grants))
	for i, g := range grants {
		verbs := make([]string, len(g.Verbs))
		for n, verb := range g.Verbs {
			verbs[n] = string(verb)
		}
		lines[i] = strings.Join(verbs, ",")
		if len(g.Scopes) > 0 {
			lines[i] += " on " + strings.Join(g.Scopes, ",")
		}
	}
	return strings.Join(lines, "; ")
}

func list(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List tokens, without their secrets", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				found, err := kit.Find[*agent.TokenList](ctx, a, s, &agent.ListTokens{Page: page.Page()})
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"token", "principal", "grants", "created", "by", "expires", "last used"}, Note: kit.More(found.Next)}
				for _, t := range found.Items {
					g.Add(t.ID, t.Principal, rights(t.Grants), cli.When(t.CreatedAt), cli.OrDash(t.CreatedBy), whenOrNever(t.ExpiresAt), lastUsed(t.LastUsed))
				}
				return a.Print(document.ListOf(found.Items, found.Next, document.TokenOf), g)
			})
		},
	}
	page.DefineOrdered(cmd)
	return cmd
}

// lastUsed returns when the answering node saw a token.
func lastUsed(at int64) string {
	if at == 0 {
		return "-"
	}
	return cli.When(at)
}

func revoke(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN...", Short: "Revoke tokens, by their ids", Args: cli.Between(1, -1, "TOKEN..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			ops := make([]agent.Op, len(args))
			for i, id := range args {
				ops[i] = &agent.RevokeToken{ID: id}
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				result, err := a.Submit(ctx, s, agent.Commit{Scope: agent.DefaultScope, Ops: ops})
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"token", "existed"}, Note: fmt.Sprintf("revoked as of index %d", result.Index)}
				out := make([]kit.DeletedDoc, len(args))
				for i, id := range args {
					deleted, err := kit.ResultOf[*agent.DeleteResult](result, i)
					if err != nil {
						return err
					}
					out[i] = kit.DeletedDoc{ID: id, Deleted: document.DeletedOf(deleted)}
					g.Add(id, kit.Yes(deleted.Existed))
				}
				return a.Print(out, g)
			})
		},
	}
}

func rotate(a *kit.App) *cobra.Command {
	var ttl span
	cmd := &cobra.Command{
		Use: "rotate PRINCIPAL", Short: "Create a second token for a principal, with the same rights; then revoke the first", Args: cli.Exactly("PRINCIPAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var newest *agent.Token
			err := a.With(cmd, func(ctx context.Context, s kit.Store) (err error) {
				newest, err = newestOf(ctx, a, s, args[0])
				return err
			})
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("ttl") && newest.ExpiresAt != 0 {
				ttl.Duration = time.Duration(newest.ExpiresAt-newest.CreatedAt) * time.Millisecond
			}
			if err := put(a, cmd, agent.PutToken{Principal: newest.Principal, Grants: newest.Grants, TTL: ttl.Duration}); err != nil {
				return err
			}
			a.Tell("once no caller uses the earlier token, revoke it: dormctl tokens revoke %s", newest.ID)
			return nil
		},
	}
	cmd.Flags().Var(&ttl, "ttl", "how long the new token is valid, such as 30d; without it, as long as the first was")
	return cmd
}

// newestOf returns the newest token of a principal.
func newestOf(ctx context.Context, a *kit.App, s kit.Store, principal string) (*agent.Token, error) {
	var newest *agent.Token
	page := agent.Page{Limit: agent.ListLimitMax}
	for {
		found, err := kit.Find[*agent.TokenList](ctx, a, s, &agent.ListTokens{Page: page})
		if err != nil {
			return nil, err
		}
		for _, t := range found.Items {
			if t.Principal == principal && (newest == nil || t.CreatedAt > newest.CreatedAt) {
				newest = &t
			}
		}
		if found.Next == "" {
			break
		}
		page.After = found.Next
	}
	if newest == nil {
		return nil, agent.Errorf(agent.CodeNotFound, "principal %q has no token", principal)
	}
	return newest, nil
}
