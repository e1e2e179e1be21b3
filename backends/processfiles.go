package backends

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
)

// placeholderNames are the placeholders of each program, in the order of messages.
var placeholderNames = []string{"port", "other-port", "upstream", "upstream-host", "upstream-addr", "upstream-url", "dir", "data", "out"}

// placeholder matches what looks like a placeholder, in one pair of braces or in two.
var placeholder = regexp.MustCompile(`\{\{[A-Za-z][\w-]*\}\}|\{[A-Za-z][\w-]*\}`)

// upstreamPlaceholders returns what stands for the server behind a program.
func upstreamPlaceholders(u *url.URL) map[string]string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return map[string]string{
		"upstream": port, "upstream-host": u.Hostname(), "upstream-addr": net.JoinHostPort(u.Hostname(), port),
		"upstream-url": strings.TrimSuffix(u.String(), "/"),
	}
}

// replacer returns a replacer of {name}, for each name of values.
func replacer(values map[string]string) *strings.Replacer {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...)
}

// fill returns a template with values in place of placeholders. {{name}} becomes {name}. The error names an unknown
// placeholder and its line.
func fill(template string, values map[string]string) (string, error) {
	all := maps.Clone(values)
	for _, at := range placeholder.FindAllStringIndex(template, -1) {
		text := template[at[0]:at[1]]
		name := strings.Trim(text, "{}")
		if strings.HasPrefix(text, "{{") {
			all["{"+name+"}"] = "{" + name + "}"
		} else if _, known := values[name]; !known {
			return "", fmt.Errorf("line %d: unknown placeholder %s: want %s; {%[2]s} stands for the text %[2]s", 1+strings.Count(template[:at[0]], "\n"), text, listed(values))
		}
	}
	return replacer(all).Replace(template), nil
}

// listed lists placeholders for a message.
func listed(values map[string]string) string {
	var known []string
	for _, name := range placeholderNames {
		if _, has := values[name]; has {
			known = append(known, "{"+name+"}")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(placeholderNames, name) {
			known = append(known, "{"+name+"}")
		}
	}
	return strings.Join(known[:len(known)-1], ", ") + " or " + known[len(known)-1]
}

// withTemplates returns the process with the contents of all Templates in Files.
func (p Process) withTemplates() (Process, error) {
	read := func(program *Program) error {
		if len(program.Templates) == 0 {
			return nil
		}
		program.Files = maps.Clone(program.Files)
		if program.Files == nil {
			program.Files = map[string]string{}
		}
		for _, path := range program.Templates {
			text, err := os.ReadFile(strings.ReplaceAll(path, "{out}", p.Out))
			if err != nil {
				return fmt.Errorf("%s: template: %w", p.name(), err)
			}
			program.Files[filepath.Base(path)] = string(text)
		}
		return nil
	}
	p.Beside = slices.Clone(p.Beside)
	for i := range p.Beside {
		if err := read(&p.Beside[i]); err != nil {
			return p, err
		}
	}
	return p, read(&p.Program)
}

// checkFiles returns what is wrong with the names of the program's files.
func (p Program) checkFiles() error {
	names := slices.Sorted(maps.Keys(p.Files))
	for _, path := range p.Templates {
		name := filepath.Base(path)
		if slices.Contains(names, name) {
			return fmt.Errorf("two files have the name %q: want different names in Files and Templates", name)
		}
		names = append(names, name)
	}
	for _, name := range names {
		if !filepath.IsLocal(name) || filepath.Clean(name) == "." {
			return fmt.Errorf("file %q: want a path in {dir}, like proxy.conf", name)
		}
	}
	return nil
}

// describeFiles adds the program's files to the configuration lines: a hash of each template, or the path of a template
// that was built.
func (p Program) describeFiles(config map[string]string, suffix string) {
	for name, text := range p.Files {
		config["file"+suffix+"-"+configKey(name)] = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))[:len("sha256:")+16]
	}
	for _, path := range p.Templates {
		if strings.Contains(path, "{out}") {
			config["file"+suffix+"-"+configKey(filepath.Base(path))] = path
		}
	}
}

// fileSecrets returns the secrets in the program's files.
func (p Program) fileSecrets() (all []string) {
	for _, text := range p.Files {
		_, found := secret.RedactArgs([]string{text})
		all = append(all, found...)
	}
	return all
}

// makeFolders makes the folders that {dir} and {data} stand for, if the program names them, and adds them to values.
func (s *started) makeFolders(p Program, values map[string]string) error {
	for _, name := range []string{"dir", "data"} {
		values[name] = ""
		if !p.names("{"+name+"}") && (name == "data" || len(p.Files) == 0) {
			continue
		}
		folder, err := os.MkdirTemp("", "llmbench-"+name+"-")
		if err != nil {
			return err
		}
		s.folders, values[name] = append(s.folders, folder), folder
	}
	return nil
}

// writeFiles writes the program's files into the folder that {dir} stands for.
func (p Program) writeFiles(values map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		text, err := fill(p.Files[name], values)
		if err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		path := filepath.Join(values["dir"], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
	}
	return nil
}

// unknownPlaceholders says which words of the commands look like a placeholder and are none, or returns "".
func (p Process) unknownPlaceholders() string {
	known := map[string]string{}
	for _, name := range placeholderNames {
		known[name] = ""
	}
	for _, program := range p.programs() {
		for _, word := range program.Command {
			for _, text := range placeholder.FindAllString(word, -1) {
				if _, has := known[strings.Trim(text, "{}")]; !has {
					return fmt.Sprintf("the command has %s, which is no placeholder: those are %s", text, listed(known))
				}
			}
		}
		if program.Name != "" {
			known[program.Name] = ""
		}
	}
	return ""
}
