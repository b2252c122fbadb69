// Package blob stores the objects of backups: in a directory, or through the program dormblob in
// the stores of cloud providers.
//
// dormoused does not link the libraries of cloud providers: they would double its size. For a URL
// other than file:// it starts dormblob and speaks to it over stdin and stdout; see protocol.go.
package blob
