package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// nvidia matches the names of the NVIDIA libraries that PyTorch is linked with, except for the two that a CPU needs:
// libcudart comes from a small package, and libcuda is loaded only if there is a driver.
var (
	nvidia   = regexp.MustCompile(`^lib(cu|nv|nccl)`)
	provided = regexp.MustCompile(`^libcuda(rt)?\.so`)
)

// standIns writes stand-ins for the NVIDIA libraries that PyTorch is linked with. On PyPI, PyTorch for Linux is built
// for NVIDIA's GPUs, and is not loaded without these libraries of 4 GB, none of whose functions are called on a CPU. A
// stand-in has all functions that PyTorch imports; each returns 0.
func standIns(ctx context.Context, _ Engine, dir string) error {
	libs, err := filepath.Glob(filepath.Join(sitePackages(dir), "torch", "lib", "*.so*"))
	if err != nil {
		return err
	}
	functions := map[string]map[string][]string{} // by library and version
	unversioned, defined := map[string]bool{}, map[string]bool{}
	for _, lib := range libs {
		if err := readSymbols(lib, functions, unversioned, defined); err != nil {
			return fmt.Errorf("%s: %w", lib, err)
		}
	}
	maps.DeleteFunc(unversioned, func(name string, _ bool) bool { return defined[name] })
	for i, lib := range slices.Sorted(maps.Keys(functions)) {
		if i == 0 { // any library may have a function whose library is not known
			functions[lib][""] = slices.Collect(maps.Keys(unversioned))
		}
		path := filepath.Join(filepath.Dir(libs[0]), lib)
		if _, err := os.Stat(path); err == nil { // PyTorch brings it along
			continue
		}
		if err := writeStandIn(ctx, path, functions[lib]); err != nil {
			return err
		}
	}
	return nil
}

// readSymbols adds the NVIDIA libraries that a library of PyTorch needs, with the functions that it imports from them
// by version, and the names of what it defines and of what it imports from an unknown library.
func readSymbols(lib string, functions map[string]map[string][]string, unversioned, defined map[string]bool) error {
	f, err := elf.Open(lib)
	if err != nil {
		return err
	}
	defer f.Close()
	needs, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, n := range needs {
		if nvidia.MatchString(n) && !provided.MatchString(n) && functions[n] == nil {
			functions[n] = map[string][]string{}
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		switch versions := functions[s.Library]; {
		case s.Section != elf.SHN_UNDEF:
			defined[s.Name] = true
		case s.Library == "" && elf.ST_BIND(s.Info) == elf.STB_GLOBAL:
			unversioned[s.Name] = true
		case versions != nil && !slices.Contains(versions[s.Version], s.Name):
			versions[s.Version] = append(versions[s.Version], s.Name)
		}
	}
	return nil
}

// writeStandIn compiles a shared library with functions, by version, that return 0.
func writeStandIn(ctx context.Context, path string, functions map[string][]string) error {
	var source, versions bytes.Buffer
	source.WriteString("\t.text\n")
	for _, version := range slices.Sorted(maps.Keys(functions)) {
		names := slices.Sorted(slices.Values(functions[version]))
		for _, name := range names {
			fmt.Fprintf(&source, "\t.globl %q\n\t.type %q, @function\n%q:\n", name, name, name)
		}
		if version != "" && len(names) > 0 {
			fmt.Fprintf(&versions, "%q { global: \"%s\"; };\n", version, strings.Join(names, `"; "`))
		}
	}
	source.WriteString("\txorl %eax, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n")
	tmp := path + ".s"
	args := []string{"-shared", "-nostdlib", "-Wl,-soname," + filepath.Base(path), "-o", path, tmp}
	err := os.WriteFile(tmp, source.Bytes(), 0o644)
	if versions.Len() > 0 {
		script := path + ".map"
		args = append(args, "-Wl,--version-script="+script)
		err = errors.Join(err, os.WriteFile(script, versions.Bytes(), 0o644))
	}
	return cmp.Or(err, run(ctx, nil, "gcc", args...))
}

// sitePackages returns the folder of the packages of an installation.
func sitePackages(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "venv", "lib", "python3*", "site-packages")) // the pattern is valid
	return append(found, "")[0]
}
