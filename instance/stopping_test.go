package instance_test

import (
	"context"
	"testing"

	"dormouse/agent"
	"dormouse/instance"
)

// A turn that the end of its node interrupts fails as unavailable, not as a
// timeout of its handler.
func TestATurnThatANodesEndInterruptsIsUnavailable(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		begun := make(chan struct{})
		f.patient = func(ctx context.Context, _ *instance.Turn) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		}
		result := make(chan error, 1)
		go func() {
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			result <- err
		}()
		<-begun
		k.stop()
		k.code(<-result, agent.CodeUnavailable)
	})
}
