// Command protogen generates the Go code of proto/. It compiles the .proto files
// with protocompile, runs the usual plugins as go tools, so that nothing outside
// the module proxy is needed, and adds an encoder and a decoder for each message.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"dormouse/internal/modpath"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: protogen ROOT FILE.proto…  (files relative to ROOT)")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// plugins are the generators that run as programs.
var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

// run compiles each file, and writes what the plugins make of it into root.
func run(ctx context.Context, root string, files []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, files...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{}
	for _, file := range compiled {
		request.ProtoFile = append(request.ProtoFile, protodesc.ToFileDescriptorProto(file))
	}
	request.FileToGenerate = files
	request.Parameter = proto.String("module=" + modpath.Path)
	for _, plugin := range plugins {
		if err := generate(ctx, plugin, root, request); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	response, err := codecs(request)
	if err != nil {
		return fmt.Errorf("generate codecs: %w", err)
	}
	return write(root, request, response)
}

// generate runs one plugin and writes its files below root.
func generate(ctx context.Context, plugin, root string, request *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, response); err != nil {
		return err
	}
	return write(root, request, response)
}

// write writes what a generator returned below root.
func write(root string, request *pluginpb.CodeGeneratorRequest, response *pluginpb.CodeGeneratorResponse) error {
	if response.Error != nil {
		return fmt.Errorf("%s", *response.Error)
	}
	for _, file := range response.File {
		if strings.HasSuffix(file.GetName(), "_grpc.pb.go") && !hasService(request, file.GetName()) {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hasService reports whether the .proto file that made name declares a service.
func hasService(request *pluginpb.CodeGeneratorRequest, name string) bool {
	base := strings.TrimSuffix(name, "_grpc.pb.go") + ".proto"
	for _, file := range request.ProtoFile {
		if file.GetName() == base {
			return len(services(file)) > 0
		}
	}
	return false
}

func services(file *descriptorpb.FileDescriptorProto) []*descriptorpb.ServiceDescriptorProto {
	return file.Service
}
