package fsm_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"dormouse/fsm"
)

// Each op and each read of the contract is registered: a missing op would stop the replica, and a
// missing read would be refused.
func TestTheContractIsRegistered(t *testing.T) {
	ops, reads := implementers(t, "validateOp"), implementers(t, "isRead")
	if len(ops) < 40 || len(reads) < 30 {
		t.Fatalf("the contract has %d ops and %d reads: the test does not find them", len(ops), len(reads))
	}
	for what, c := range map[string]struct{ contract, registered map[string]bool }{
		"op":   {ops, fsm.RegisteredOps()},
		"read": {reads, fsm.RegisteredReads()},
	} {
		for name := range c.contract {
			if !c.registered["*agent."+name] {
				t.Errorf("%s %s is not registered", what, name)
			}
		}
		if len(c.registered) != len(c.contract) {
			t.Errorf("%d of kind %s are registered, of %d", len(c.registered), what, len(c.contract))
		}
	}
}

// implementers returns the names of the types of package agent that have a method.
func implementers(t *testing.T, method string) map[string]bool {
	t.Helper()
	//nolint:staticcheck // SA1019: types are not needed
	pkgs, err := parser.ParseDir(token.NewFileSet(), "../agent", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range pkgs["agent"].Files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != method || f.Recv == nil {
				continue
			}
			if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				if id, ok := star.X.(*ast.Ident); ok {
					names[id.Name] = true
				}
			}
		}
	}
	return names
}
