// Command dormblob stores the backups of Dormouse in S3, Google Cloud Storage or Azure. dormoused
// starts it for the URLs s3://, gs:// and azblob://, and speaks to it over stdin and stdout; see
// package backup/blob. Credentials and endpoints come from its environment, as the providers' own
// tools read them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"dormouse/backup/blob"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "-h" || os.Args[1] == "--help" {
		fmt.Fprintln(os.Stderr, "usage: dormblob s3://BUCKET | gs://BUCKET | azblob://CONTAINER\n\n"+
			"dormoused runs it for backups. It reads requests from stdin and answers on stdout.")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := open(ctx, os.Args[1])
	if err = blob.Serve(ctx, store, err, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dormblob:", err)
		os.Exit(1)
	}
}
