package dapr

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/dapr/components-contrib/metadata"
	kitmd "github.com/dapr/kit/metadata"

	"dormouse/sdk/go/client"
)

// properties are the metadata of a component. Certificates of TLS come from the
// environment: client.EnvCA, EnvCert and EnvKey.
type properties struct {
	Endpoints string `mapstructure:"endpoints"` // gRPC addresses separated by commas; "" means all of the environment, as client.Dial
	Scope     string `mapstructure:"scope"`     // "" means the default scope
	Token     string `mapstructure:"token"`
	Fixed     bool   `mapstructure:"fixed"` // use no other nodes than Endpoints
}

// connect returns a client for the metadata of a component.
func connect(from map[string]string) (*client.Client, error) {
	var p properties
	if err := kitmd.DecodeMetadata(from, &p); err != nil {
		return nil, fmt.Errorf("read the metadata of the component: %w", err)
	}
	o := client.Options{Scope: p.Scope, Token: p.Token, Fixed: p.Fixed}
	for endpoint := range strings.SplitSeq(p.Endpoints, ",") {
		if endpoint = strings.TrimSpace(endpoint); endpoint != "" {
			o.Endpoints = append(o.Endpoints, endpoint)
		}
	}
	if len(o.Endpoints) > 0 {
		var err error
		if o.TLS, err = client.TLSFromEnvironment(); err != nil {
			return nil, err
		}
	}
	c, err := client.Dial(o)
	if err != nil {
		return nil, fmt.Errorf("connect to Dormouse: %w", err)
	}
	return c, nil
}

// describe returns the description of the metadata for Dapr's tools.
func describe(kind metadata.ComponentType) (info metadata.MetadataMap) {
	_ = metadata.GetMetadataInfoFromStructType(reflect.TypeFor[properties](), &info, kind) // fails for types that are no struct
	return info
}
