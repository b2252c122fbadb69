package keys_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/cluster/keys"
)

// fixed is a key whose derived secrets must never change: a cluster's nodes may run
// different builds.
const fixed = "dormkey_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

func TestDerivedSecretsStayTheSame(t *testing.T) {
	k, err := keys.Parse(fixed)
	if err != nil {
		t.Fatal(err)
	}
	node, err := keys.Ring{k}.Secret(keys.Node, k.ID())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %x %x %s", k.ID(), k.Gossip(), node, k.Host().Encode())
	const want = "b6693ead75f60210 aab43e818590c90725f015bf547658112d952d467e0b4e22898d0cf656552de6 " +
		"be16b94c802f698029d767a5dd5778bb11c65c9701a6c253962f1fb0b07bd8a9 dormhost_tmk-rXX2AhAb7UCsu__0yQV9pDftiHmMqjbA__YBfm-E2GOYZyozIA"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if again := k.Encode(); again != fixed {
		t.Errorf("encoded again: %s", again)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	k := keys.New()
	token := keys.Ring{k}.NewToken(time.Now().Add(time.Hour), []string{"a:1"})
	shown := fmt.Sprintf("%v %+v %#v %s %v %#v %v %#v", k, k, k, k, k.Host(), k.Host(), token, token)
	for _, secret := range []string{k.Encode(), k.Host().Encode(), token.Encode()} {
		if secret = secret[len(secret)-20:]; strings.Contains(shown, secret) {
			t.Errorf("%q shows a secret", shown)
		}
	}
}

func TestARingAcceptsItsKeysOnly(t *testing.T) {
	first, second, other := keys.New(), keys.New(), keys.New()
	ring, err := keys.ParseRing("# current\n" + first.Encode() + "\n\n" + second.Encode() + "\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []keys.Key{first, second} {
		mine, err := ring.Secret(keys.Node, k.ID())
		theirs, theirErr := keys.Ring{k}.Secret(keys.Node, k.ID())
		if err != nil || theirErr != nil || !bytes.Equal(mine, theirs) {
			t.Errorf("key %s: %v, %v", k, err, theirErr)
		}
	}
	if _, err := ring.Secret(keys.Node, other.ID()); !errors.Is(err, keys.ErrKey) {
		t.Errorf("another key: %v", err)
	}
	for _, text := range []string{"", "# nothing", "dormkey_short", strings.Repeat(first.Encode()+"\n", 5), fixed + "x"} {
		if _, err := keys.ParseRing(text); !errors.Is(err, keys.ErrKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A host verifies hosts, and nodes that prove the host key; it never has a node's
// secret.
func TestAHostKeyProvesAHostOnly(t *testing.T) {
	k := keys.New()
	h, err := keys.ParseHost(k.Host().Encode())
	if err != nil {
		t.Fatal(err)
	}
	ofNode, _ := keys.Ring{k}.Secret(keys.Host, k.ID())
	ofHost, err := h.Credentials().Secret(keys.Host, k.ID())
	if err != nil || !bytes.Equal(ofNode, ofHost) {
		t.Errorf("the host's secret: %v", err)
	}
	nodes, _ := keys.Ring{k}.Secret(keys.Node, k.ID())
	if bytes.Equal(nodes, ofHost) {
		t.Error("a host has the secret of nodes")
	}
	if _, err := h.Credentials().Secret(keys.Node, k.ID()); !errors.Is(err, keys.ErrKey) {
		t.Errorf("a host as a node: %v", err)
	}
	if _, err := keys.ParseHost(k.Encode()); !errors.Is(err, keys.ErrKey) {
		t.Errorf("a cluster key as a host key: %v", err)
	}
}

func TestAJoinTokenEnds(t *testing.T) {
	ring := keys.Ring{keys.New()}
	token, err := keys.ParseToken(ring.NewToken(time.Now().Add(time.Minute), []string{"10.0.0.1:7602", "n2:7602"}).Encode())
	if err != nil {
		t.Fatal(err)
	}
	role, id := token.Own()
	secret, err := ring.Secret(role, id)
	own, _ := token.Secret(role, id)
	if err != nil || role != keys.Joiner || !bytes.Equal(secret, own) {
		t.Errorf("a valid token: %v", err)
	}
	if len(token.Addrs) != 2 || token.Addrs[1] != "n2:7602" || time.Until(token.Expires()) < 50*time.Second {
		t.Errorf("the token reads as %v, until %v", token.Addrs, token.Expires())
	}
	if _, err := (keys.Ring{keys.New()}).Secret(role, id); !errors.Is(err, keys.ErrKey) {
		t.Errorf("a token of another cluster: %v", err)
	}
	_, old := ring.NewToken(time.Now().Add(-2*time.Second), []string{"a:1"}).Own()
	if _, err := ring.Secret(keys.Joiner, old); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("an expired token: %v", err)
	}
	// A token with another expiry has another secret.
	_, forged := ring.NewToken(time.Now().Add(time.Hour), nil).Own()
	longer, err := ring.Secret(keys.Joiner, forged[:32]+id[32:])
	if err != nil || bytes.Equal(longer, secret) {
		t.Errorf("the expiry is not part of the secret: %v", err)
	}
}

func TestKeyFilesAreForTheirOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.key")
	if _, err := keys.ReadRing(path); !keys.Missing(err) {
		t.Errorf("no file: %v", err)
	}
	want := keys.Ring{keys.New(), keys.New()}
	if err := keys.WriteFile(path, want.Encode()); err != nil {
		t.Fatal(err)
	}
	got, err := keys.ReadRing(path)
	if err != nil || got.Encode() != want.Encode() {
		t.Errorf("read back: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("written with mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := keys.ReadRing(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// All nodes make the same authority, which verifies the certificates that any of them
// issues.
func TestNodesIssueCertificatesOfOneAuthority(t *testing.T) {
	k := keys.New()
	here, err := k.Authority()
	if err != nil {
		t.Fatal(err)
	}
	there, err := k.Authority()
	if err != nil || !bytes.Equal(here.PEM(), there.PEM()) {
		t.Fatalf("two nodes make two authorities: %v", err)
	}
	issuer := here.Issuer("n1", "10.0.0.1", "n1.example.com", "")
	c, err := issuer.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"10.0.0.1", "n1.example.com"} {
		if _, err := c.Leaf.Verify(x509.VerifyOptions{Roots: there.Pool(), DNSName: name}); err != nil {
			t.Errorf("verify %s: %v", name, err)
		}
	}
	if node := keys.NodeOf(c.Leaf); node != "n1" {
		t.Errorf("the certificate names %q", node)
	}
	again, err := issuer.Certificate()
	if err != nil || again != c {
		t.Errorf("another certificate while the first is fresh: %v", err)
	}
	other, err := keys.New().Authority()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Leaf.Verify(x509.VerifyOptions{Roots: other.Pool()}); err == nil {
		t.Error("another cluster's authority verifies it")
	}
}

func TestSealedTextOpensOnTheSameConnectionOnly(t *testing.T) {
	secret, transcript := []byte("secret"), []byte("transcript")
	sealed, err := keys.Seal(secret, transcript, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := keys.Open(secret, transcript, sealed); err != nil || string(text) != "text" {
		t.Errorf("opened: %q, %v", text, err)
	}
	if _, err := keys.Open(secret, []byte("another"), sealed); !errors.Is(err, keys.ErrKey) {
		t.Errorf("on another connection: %v", err)
	}
	if keys.Verify(keys.Proof(secret, keys.Dialer, transcript), secret, keys.Acceptor, transcript) {
		t.Error("a proof can be reflected")
	}
}

func FuzzParse(f *testing.F) {
	k := keys.New()
	f.Add(k.Encode())
	f.Add(k.Host().Encode())
	f.Add(keys.Ring{k}.NewToken(time.Now(), []string{"a:1", "b:2"}).Encode())
	f.Fuzz(func(t *testing.T, text string) {
		if ring, err := keys.ParseRing(text); err == nil {
			if again, err := keys.ParseRing(ring.Encode()); err != nil || again.Encode() != ring.Encode() {
				t.Errorf("%q: %v", text, err)
			}
		}
		if token, err := keys.ParseToken(text); err == nil {
			if again, err := keys.ParseToken(token.Encode()); err != nil || again.Encode() != token.Encode() {
				t.Errorf("%q: %v", text, err)
			}
		}
		_, _ = keys.ParseHost(text)
	})
}
