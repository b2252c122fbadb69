package main

import "testing"

func TestThePathIsChangedWhereItIsOne(t *testing.T) {
	r := newRenaming("dormouse", "example.com/team/dormouse")
	for _, c := range [][3]string{
		{"go.mod", "module dormouse\n", "module example.com/team/dormouse\n"},
		{
			"cmd/x/go.mod", "module dormouse/cmd/x\n\nrequire (\n\tdormouse v0.0.0\n\tother/dormouse v1\n)\n\nreplace dormouse => ../..\n",
			"module example.com/team/dormouse/cmd/x\n\nrequire (\n\texample.com/team/dormouse v0.0.0\n\tother/dormouse v1\n)\n\nreplace example.com/team/dormouse => ../..\n",
		},
		{
			"a.go", "package a\n\nimport (\n\tx \"dormouse/b\"\n\t\"dormouse\"\n\t\"dormouses/c\"\n)\n\nvar key = \"dormouse/b\"\n",
			"package a\n\nimport (\n\tx \"example.com/team/dormouse/b\"\n\t\"example.com/team/dormouse\"\n\t\"dormouses/c\"\n)\n\nvar key = \"dormouse/b\"\n",
		},
		{"internal/modpath/modpath.go", "package modpath\n\nconst Path = \"dormouse\"\n", "package modpath\n\nconst Path = \"example.com/team/dormouse\"\n"},
		{"a.proto", "package dormouse.a;\noption go_package = \"dormouse/proto/a;apb\";", "package dormouse.a;\noption go_package = \"example.com/team/dormouse/proto/a;apb\";"},
		{".golangci.yml", "module-path: dormouse\nlocal-prefixes: [dormouse]\n", "module-path: example.com/team/dormouse\nlocal-prefixes: [example.com/team/dormouse]\n"},
		{
			"docs/a.md", "The dormouse sleeps; `go mod edit -replace=dormouse=../x`\n\timport \"dormouse/client\"\nreplace dormouse => ../x\nrequire dormouse v0.0.0\n",
			"The dormouse sleeps; `go mod edit -replace=example.com/team/dormouse=../x`\n\timport \"example.com/team/dormouse/client\"\nreplace example.com/team/dormouse => ../x\nrequire example.com/team/dormouse v0.0.0\n",
		},
	} {
		got, err := r.file(c[0], []byte(c[1]))
		if err != nil || string(got) != c[2] {
			t.Errorf("%s: %v\n%s\nwant\n%s", c[0], err, got, c[2])
		}
		back, err := newRenaming("example.com/team/dormouse", "dormouse").file(c[0], got)
		if err != nil || string(back) != c[1] {
			t.Errorf("%s, and back: %v\n%s", c[0], err, back)
		}
	}
}

func TestAPathThatGoGetCannotFindIsRefused(t *testing.T) {
	for _, path := range []string{"", "dormouse", "dormouse/x", "github.com", "github.com/", "https://github.com/a/b", "github.com/a b", "Github.com/a", "github.com/../a"} {
		if valid.MatchString(path) {
			t.Errorf("%q is taken", path)
		}
	}
}
