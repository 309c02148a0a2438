package main

import (
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// info is the build information of a program.
type info struct {
	goVersion string
	modules   []*debug.Module
	settings  map[string]string
}

func readInfo(file string) (info, error) {
	built, err := buildinfo.ReadFile(file)
	if err != nil {
		return info{}, fmt.Errorf("read the build information of %s: %w", file, err)
	}
	i := info{built.GoVersion, built.Deps, map[string]string{}}
	for _, s := range built.Settings {
		i.settings[s.Key] = s.Value
	}
	return i, nil
}

// bill writes the software bill of materials: all modules that any program links on any platform,
// and the Go standard library.
func (r *release) bill(builds []build) error {
	linked := map[string]*debug.Module{}
	goVersion := ""
	for _, b := range builds {
		for _, program := range programs {
			i, err := readInfo(b.exe(program))
			if err != nil {
				return err
			}
			goVersion = i.goVersion
			for _, m := range i.modules {
				for m.Replace != nil {
					m = m.Replace
				}
				linked[m.Path] = m
			}
		}
	}
	file, err := os.Create(filepath.Join(r.out, "hookrouter_"+r.version+".cdx.json"))
	if err != nil {
		return err
	}
	err = cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(r.bom(goVersion, linked))
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	return file.Close()
}

func (r *release) bom(goVersion string, linked map[string]*debug.Module) *cyclonedx.BOM {
	product := component(cyclonedx.ComponentTypeApplication, module, "v"+r.version)
	libraries := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(goVersion, "go"))}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		libraries = append(libraries, component(cyclonedx.ComponentTypeLibrary, path, linked[path].Version))
	}
	refs := make([]string, 0, len(libraries))
	for _, library := range libraries {
		refs = append(refs, library.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &product}
	bom.Components = &libraries
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	return bom
}

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{Type: kind, BOMRef: purl, PackageURL: purl, Name: path, Version: version}
}
