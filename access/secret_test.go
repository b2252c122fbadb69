package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/access"
	"dormouse/agent"
)

func TestASecretIsWellFormedAndDetectsEachChange(t *testing.T) {
	secret := access.NewSecret()
	if err := access.CheckSecret(secret); err != nil || secret == access.NewSecret() || len(secret) != len("dorm_")+43+6 {
		t.Fatal(secret, err)
	}
	for i := range secret {
		for _, c := range []byte{'a', 'Z', '0', '_', ' '} {
			if secret[i] == c {
				continue
			}
			changed := secret[:i] + string(c) + secret[i+1:]
			if access.CheckSecret(changed) == nil {
				t.Fatalf("%s is accepted for %s", changed, secret)
			}
		}
	}
}

func TestABearerIsASecretOrAJWT(t *testing.T) {
	secret := access.NewSecret()
	for text, ok := range map[string]bool{
		secret: true, "aa.bb.c-_": true, "": false, "a.b": false, "a..c": false, "a.b.": false, "a.b.c.d": false, "a b.c.d": false,
		secret + ".b.c": false, secret[:20]: false, strings.Repeat("a", 20<<10) + ".b.c": false,
	} {
		if err := access.CheckBearer(text); (err == nil) != ok {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func FuzzSecret(f *testing.F) {
	f.Add("")
	f.Add("dorm_")
	f.Add(access.NewSecret())
	f.Add(strings.Repeat("dorm_", 11))
	f.Fuzz(func(t *testing.T, text string) {
		err := access.CheckSecret(text)
		if err == nil && (len(text) != 54 || !strings.HasPrefix(text, "dorm_")) {
			t.Fatalf("%q is accepted", text)
		}
		if err != nil && agent.CodeOf(err) != agent.CodeUnauthenticated {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil && len(text) > 12 && strings.Contains(err.Error(), text) {
			t.Fatalf("the error holds the token: %v", err)
		}
	})
}

func TestASecretFileIsReadOnlyIfNoOtherUserCan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if _, err := access.ReadSecretFile(path); !os.IsNotExist(err) {
		t.Fatal(err)
	}
	secret := access.NewSecret()
	if err := access.WriteSecretFile(path, secret); err != nil {
		t.Fatal(err)
	}
	if err := access.WriteSecretFile(path, secret); !os.IsExist(err) {
		t.Errorf("a file is replaced: %v", err)
	}
	if got, err := access.ReadSecretFile(path); got != secret || err != nil {
		t.Fatal(got, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := access.ReadSecretFile(path); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}
