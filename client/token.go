package client

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/grpc/credentials"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/internal/hostcheck"
	apipb "dormouse/proto/api"
)

// TokenFromEnvironment returns the secret that EnvToken holds, or the file that EnvTokenFile names;
// "" if neither is set. It returns an error if the file cannot be read or if other users can read it.
// Dial calls it if the options name no endpoints.
func TokenFromEnvironment() (string, error) {
	return tokenOf(os.Getenv(EnvToken), os.Getenv(EnvTokenFile))
}

// tokenOf returns the token of two environment variables; "" if neither is set.
func tokenOf(token, file string) (string, error) {
	if token != "" || file == "" {
		return token, nil
	}
	token, err := access.ReadBearerFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvTokenFile, err)
	}
	return token, nil
}

// checkToken refuses a token that is malformed, or that would be sent in the clear.
func (o *Options) checkToken() error {
	if o.Token == "" {
		return nil
	}
	if err := access.CheckBearer(o.Token); err != nil {
		return err
	}
	for _, addr := range o.Endpoints {
		if !o.mayCarryToken(addr) {
			return fmt.Errorf("the token would be sent to %s without encryption: use TLS, or allow it with Insecure", addr)
		}
	}
	return nil
}

// mayCarryToken reports whether a connection to addr may carry the token.
func (o *Options) mayCarryToken(addr string) bool {
	return o.Token == "" || o.TLS != nil || o.Insecure || hostcheck.Loopback(addr)
}

// bearer adds a token to each call. It implements credentials.PerRPCCredentials. Options check that
// no token is sent in the clear, because gRPC's own check has no exception for loopback.
type bearer string

var _ credentials.PerRPCCredentials = bearer("")

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

// CreateToken creates a token, and returns it with its secret. The client generates the secret and
// replaces op.Hash by its hash: the cluster stores only the hash.
func (c *Client) CreateToken(ctx context.Context, op agent.PutToken) (t agent.Token, secret string, err error) {
	secret = access.NewSecret()
	op.Hash = agent.HashToken(secret)
	result, err := c.Commit(ctx, agent.Commit{Ops: []agent.Op{&op}})
	if err != nil {
		return agent.Token{}, "", err
	}
	created, err := only[*agent.TokenResult](result)
	if err != nil {
		return agent.Token{}, "", err
	}
	return created.Token, secret, nil
}

// RevokeToken revokes a token, as of the index of the result. existed is false if there was none.
func (c *Client) RevokeToken(ctx context.Context, id string) (existed bool, err error) {
	result, err := c.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.RevokeToken{ID: id}}})
	if err != nil {
		return false, err
	}
	deleted, err := only[*agent.DeleteResult](result)
	if err != nil {
		return false, err
	}
	return deleted.Existed, nil
}

// only returns the result of a commit's only op.
func only[R agent.OpResult](result agent.Result) (R, error) {
	var none R
	if len(result.Results) != 1 {
		return none, agent.Errorf(agent.CodeInternal, "one op has %d results", len(result.Results))
	}
	r, ok := result.Results[0].(R)
	if !ok {
		return none, agent.Errorf(agent.CodeInternal, "the result is a %T", result.Results[0])
	}
	return r, nil
}

// WhoAmI returns the principal of the client's calls, as a node sees it. Its name is empty if the
// node asks for no credentials.
func (c *Client) WhoAmI(ctx context.Context) (access.Principal, error) {
	var p access.Principal
	err := c.callCluster(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		who, err := api.WhoAmI(ctx, &apipb.WhoAmIRequest{})
		if err == nil {
			p = access.Principal{Name: who.Name, Grants: ops.GrantsFromProto(who.Grants), TokenID: who.TokenId, Source: access.Source(who.Source)}
		}
		return err
	})
	return p, err
}
