// Command dormouse-dapr serves state stores on Dormouse to daprd, as a pluggable
// component.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"dormouse/adapters/go/dapr"
)

func main() {
	directory := cmp.Or(os.Getenv("DAPR_COMPONENTS_SOCKETS_FOLDER"), "/tmp/dapr-components-sockets")
	socket := flag.String("socket", filepath.Join(directory, "dormouse.sock"), "path of the Unix socket; the name of the file is that of the component")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dapr.Serve(ctx, *socket); err != nil {
		fmt.Fprintln(os.Stderr, "dormouse-dapr:", err)
		os.Exit(1)
	}
}
