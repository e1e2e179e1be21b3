package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Settings are the settings made by a command line, an environment and documents. The key is the first name
// of an option or variable, or the name of a field. A flag has the value "".
type Settings map[string][]string

// Has reports whether a setting is made. setting has the form NAME or NAME=VALUE.
func (s Settings) Has(setting string) bool {
	name, value, withValue := strings.Cut(setting, "=")
	values, set := s[name]
	return set && (!withValue || slices.Contains(values, value))
}

// Address returns the address that the server binds for l with these settings.
func (l Listener) Address(s Settings) (host, port string) {
	host, port = l.Host, strconv.Itoa(l.Port)
	if values := s[l.HostBy]; l.HostBy != "" && len(values) > 0 {
		switch h, p, err := net.SplitHostPort(values[0]); {
		case err == nil:
			host, port = h, p
		case values[0] == "": // a flag means all addresses
			host = "0.0.0.0"
		default:
			host = values[0]
		}
	}
	if values := s[l.PortBy]; l.PortBy != "" && len(values) > 0 {
		port = values[0]
	}
	return host, port
}

// A UsageError is the error message that the server prints for a command line that it refuses.
type UsageError struct {
	Message string // in the format that the server prints on standard error
	Exit    int    // the server's exit status
}

func (e *UsageError) Error() string { return e.Message }

// ModelName returns the name under which the server lists its model with these settings, or "" if no
// setting names the model. If the server derives the name itself, the name is in lower case, with "--" in
// place of "/".
func (f Facts) ModelName(s Settings) string {
	for _, setting := range f.Model.Settings {
		values := s[setting]
		if len(values) == 0 {
			continue
		}
		switch name := values[0]; f.Model.Listed {
		case "tagged":
			if !strings.Contains(name, ":") {
				name += ":latest"
			}
			return name
		case "base":
			return path.Base(name)
		case "own":
			return strings.ReplaceAll(strings.ToLower(strings.Trim(name, "/")), "/", "--")
		default:
			return name
		}
	}
	return ""
}

// ParseCommand parses a command line as the server's own parser would, except that option names cannot be
// abbreviated. The error is a [UsageError], or says that the command does not start this server.
func (f Facts) ParseCommand(words []string) (Settings, error) {
	n := len(f.Command.Words)
	if len(words) < n || !slices.Equal(words[:n], f.Command.Words) {
		return nil, fmt.Errorf("command %q: want one that begins with %q", words, f.Command.Words)
	}
	p := parser{f: f, words: words[n:], set: Settings{}}
	for len(p.words) > 0 {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p.set, nil
}

// A parser holds the words of a command line that are not parsed yet.
type parser struct {
	f           Facts
	words       []string
	set         Settings
	positionals int
}

var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

// isOption reports whether a word is an option and not a value.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && !negativeNumber.MatchString(word)
}

// next parses an option with its values, or a positional argument.
func (p *parser) next() error {
	word := p.words[0]
	p.words = p.words[1:]
	if !isOption(word) {
		if p.positionals == len(p.f.Command.Positionals) {
			return p.usage(unknown, word, "")
		}
		p.set[p.f.Command.Positionals[p.positionals]] = []string{word}
		p.positionals++
		return nil
	}
	name, value, joined := word, "", false
	if p.f.Command.Style != "llama" {
		name, value, joined = strings.Cut(word, "=")
	}
	o := p.f.option(name)
	if o == nil {
		return p.usage(unknown, word, "")
	}
	var values []string
	switch {
	case o.Kind == "flag":
		if joined {
			return p.usage(invalid, name, value)
		}
	case joined:
		values = []string{value}
	default:
		for len(p.words) > 0 && (len(values) == 0 || o.Many) && (p.f.Command.Style == "llama" || !isOption(p.words[0])) {
			values, p.words = append(values, p.words[0]), p.words[1:]
		}
		if len(values) == 0 {
			return p.usage(missing, name, "")
		}
	}
	for _, v := range values {
		if o.Accepts(v) != nil {
			return p.usage(invalid, name, v)
		}
	}
	if o.Kind == "flag" {
		values = []string{""}
	}
	p.set[o.Names[0]] = values
	return nil
}

// option returns the option with a name, or nil.
func (f Facts) option(name string) *Option {
	for i := range f.Options {
		if slices.Contains(f.Options[i].Names, name) {
			return &f.Options[i]
		}
	}
	return nil
}

// The mistakes in a command line.
const (
	unknown = iota
	missing
	invalid
)

// usage returns the error for a mistake in the words of the server's parser: Python's argparse or click,
// Rust's clap, or llama.cpp's own parser.
func (p *parser) usage(mistake int, name, value string) error {
	texts := map[string][3]string{
		"argparse": {"error: unrecognized arguments: %[1]s", "error: argument %[1]s: expected one argument", "error: argument %[1]s: invalid value: '%[2]s'"},
		"clap":     {"error: unexpected argument '%[1]s' found", "error: a value is required for '%[1]s' but none was supplied", "error: invalid value '%[2]s' for '%[1]s'"},
		"click":    {"Error: No such option: %[1]s", "Error: Option '%[1]s' requires an argument.", "Error: Invalid value for '%[1]s': '%[2]s'"},
		"llama":    {"error: invalid argument: %[1]s", "error while handling argument \"%[1]s\": expected value for argument", "error while handling argument \"%[1]s\": invalid value"},
		"none":     {"unexpected argument: %[1]s", "no value: %[1]s", "invalid value of %[1]s: %[2]s"},
	}
	exit := 2
	switch p.f.Command.Style {
	case "llama", "none":
		exit = 1
	}
	return &UsageError{fmt.Sprintf(texts[p.f.Command.Style][mistake], name, value), exit}
}

// Environment returns the settings made by environment variables. The error names a variable that the
// server does not read, or a value that the server does not accept.
func (f Facts) Environment(env map[string]string) (Settings, error) {
	set := Settings{}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		i := slices.IndexFunc(f.Variables, func(o Option) bool { return slices.Contains(o.Names, name) })
		if i < 0 {
			return nil, fmt.Errorf("variable %s: %s %s does not read it", name, f.Server, f.Version)
		}
		if err := f.Variables[i].Accepts(env[name]); err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		set[f.Variables[i].Names[0]] = []string{env[name]}
	}
	return set, nil
}

// Document returns the settings made by a JSON document. in is the path of a file in the container, or a
// request whose body is the document; see [Field]. The error names a member that the server does not read,
// or a value that the server does not accept.
func (f Facts) Document(in string, text []byte) (Settings, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", in, err)
	}
	set := Settings{}
	return set, f.member(in, "", v, set)
}

// member adds the settings made by one member of a document.
func (f Facts) member(in, name string, v any, set Settings) error {
	object, isObject := v.(map[string]any)
	list, isList := v.([]any)
	if name != "" {
		i := slices.IndexFunc(f.Fields, func(d Field) bool { return d.In == in && d.Name == name })
		if i < 0 {
			return fmt.Errorf("%s: %s %s does not read the member %s", in, f.Server, f.Version, name)
		}
		switch d := f.Fields[i]; {
		case d.Kind == "json":
			set[name] = nil
			return nil
		case (d.Kind == "object") != (isObject || isList):
			return fmt.Errorf("%s: %s is %v: want kind %s", in, name, v, d.Kind)
		case d.Kind != "object":
			value := fmt.Sprint(v)
			if err := d.Accepts(value); err != nil {
				return fmt.Errorf("%s: %s: %w", in, name, err)
			}
			set[name] = []string{value}
			return nil
		}
		name += "."
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := f.member(in, name+key, object[key], set); err != nil {
			return err
		}
	}
	for _, element := range list {
		if err := f.member(in, name+"0", element, set); err != nil {
			return err
		}
	}
	return nil
}

// Accepts returns an error unless text is a valid value.
func (v Value) Accepts(text string) error {
	var number float64
	var err error
	switch v.Kind {
	case "flag":
		return fmt.Errorf("%q: want no value", text)
	case "int":
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		number = float64(n)
	case "float":
		number, err = strconv.ParseFloat(text, 64)
	case "bool":
		if allowed := v.Values; len(allowed) > 0 && !slices.Contains(allowed, text) || len(allowed) == 0 && text != "true" && text != "false" {
			return fmt.Errorf("%q: want true or false, as one of %q", text, allowed)
		}
	case "enum":
		if !slices.Contains(v.Values, text) {
			return fmt.Errorf("%q: want one of %q", text, v.Values)
		}
	case "json":
		if !json.Valid([]byte(text)) {
			return fmt.Errorf("%q: want JSON", text)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%q: want kind %s", text, v.Kind)
	case v.Min != nil && number < *v.Min, v.Max != nil && number > *v.Max:
		return fmt.Errorf("%s: out of the range that the server takes", text)
	}
	return nil
}
