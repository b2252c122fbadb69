package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes the bill of materials of a release in CycloneDX's JSON.
func writeSBOM(path, version string, linked []module) error {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = "" // a random one would make two builds differ
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: "dormouse", Type: cyclonedx.ComponentTypeApplication, Name: "dormouse", Version: version,
	}}
	parts := []cyclonedx.Component{component("std", strings.TrimPrefix(runtime.Version(), "go"), "")}
	for _, m := range linked {
		parts = append(parts, component(m.Path, m.Version, m.Sum))
	}
	bom.Components = &parts
	var b bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON)
	if err := encoder.SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_5); err != nil {
		return fmt.Errorf("encode the bill of materials: %w", err)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// component describes a module; sum is the module's checksum as in go.sum, or "".
func component(path, version, sum string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
