package resultfile

import (
	"fmt"
	"hash/crc32"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"
)

// maxSettings is the maximum number of settings of a result.
const maxSettings = 2000

// maxValue is the maximum length of a setting's value, in bytes. A longer value ends in a checksum.
const maxValue = 160

// identities are the keys that say of any tool's run which one it was: its number, the draw of its random numbers, when
// it ran, what it was called with, and where its output went. They are patterns of [path.Match]; see stated.
var identities = []string{
	"*seed", "seed.*", "*timestamp*", "*start_time", "*start_time_unix", "*end_time", "*end_time_unix", "id", "id_", "*run_id", "*benchmark_id", "*sweep_id", "*experiment_id", "*job_id", "*session_id", "*uid", "*uuid", "cmd", "*.cmd", "*command_line", "*cli_command",
	"*output_dir", "*outputs_dir", "*output_path", "*output_file", "*log_dir", "*log_file", "*artifact_dir*", "*result_dir", "*result_filename",
}

// stated adds what an object states to the settings of the result: each key that the reader of the format has not read,
// unless the key matches one of the patterns in apart, which are the format's results and identities. A pattern is for
// [path.Match], and a key has the keys of the enclosing objects in front: "server_info.*port". What is null or empty
// is not stated.
//
// So the settings of a new release of a tool are compared without being known here. A new result that is not in apart
// is taken for a setting: files then differ in it, which is told, and users can ignore the key.
func (r *reading) stated(root *document.Node, apart ...string) {
	for _, name := range root.Names() {
		r.state(root.Get(name), name, apart)
	}
}

// state adds the values in n, whose key is key.
func (r *reading) state(n *document.Node, key string, apart []string) {
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, strings.ReplaceAll(key, "/", "_"))
		return ok
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch items := n.Items(); {
	case r.known[n], slices.ContainsFunc(identities, matches), slices.ContainsFunc(apart, matches), isSecret(name, spell(n)), isSecret(n.Get("name").Text(), spell(n.Get("value"))):
	case n.Object():
		for _, inner := range n.Names() {
			r.state(n.Get(inner), key+"."+inner, apart)
		}
	case slices.ContainsFunc(items, func(i *document.Node) bool { return i.Object() || i.Len() > 0 }):
		for i, item := range items {
			r.state(item, fmt.Sprintf("%s[%d]", key, i), apart)
		}
	case n.Len() > 0:
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = placeless(name, spell(item))
		}
		r.setting(key, fmt.Sprintf("[%s]", strings.Join(texts, ", ")))
	default:
		r.setting(key, placeless(name, spell(n)))
	}
}

// setting adds a setting of the result, unless the value is empty.
func (r *reading) setting(key, value string) {
	if value = brief(plain(value)); value == "" {
		return
	}
	key = settingKey(key)
	for _, s := range slices.Concat(r.res.Config, r.res.Settings) {
		if s.Key == key && s.Value == value {
			return
		}
		if s.Key == key {
			key = "setting." + key
		}
	}
	if len(r.res.Settings) == maxSettings {
		r.failf(key, "is one of more than %d settings: want the summary of a run", maxSettings)
		return
	}
	r.res.Settings = append(r.res.Settings, benchfile.Setting{Key: key, Value: value})
}

// settingKey returns a tool's key as the key of a configuration line, which begins with a lower-case letter, and has
// neither upper-case letters nor spaces nor colons.
func settingKey(key string) string {
	key = strings.Map(func(c rune) rune {
		c = unicode.ToLower(c)
		if unicode.IsUpper(c) || unicode.IsSpace(c) || !unicode.IsPrint(c) || strings.ContainsRune(":=/,", c) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(key[:min(len(key), 200)], "_"))
	reserved := []string{"tool", "date", "pkg", "goos", "goarch", "cpu"} // lines that mean something else
	if key == "" || key[0] < 'a' || key[0] > 'z' || slices.Contains(reserved, key) {
		return "setting." + key
	}
	return key
}

// brief shortens a value that is longer than maxValue. The checksum at its end tells such values apart.
func brief(value string) string {
	if len(value) <= maxValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxValue], "") + fmt.Sprintf("... (checksum %08x)", crc32.ChecksumIEEE([]byte(value)))
}

// plain returns a text on one line, without spaces at the ends.
func plain(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, s), ""))
}

// notPlaces are the last parts of keys whose values are paths of files or addresses of servers. They differ from machine
// to machine. What is compared is the name of the file, and the path of the URL.
var notPlaces = struct{ files, addresses *regexp.Regexp }{
	regexp.MustCompile(`(?i)(path|file|filename|dir|directory|folder|script|model|model_id|tokenizer|tokenizer_id|processor|dataset|name)$`),
	regexp.MustCompile(`(?i)^((.*_)?(url|urls|uri|host|hosts|hostname|port|addr|address|endpoints)|target|api_base)$`),
}

// hostPort matches an address without a scheme: "localhost:8000", ":8000/v1", "10.0.0.7".
var hostPort = regexp.MustCompile(`^[\w.-]*:\d+(/.*)?$|^\d+(\.\d+){3}$`)

// number matches a whole number: a port, or how many servers there are.
var number = regexp.MustCompile(`^\d+$`)

// isPlace reports whether a value without a scheme is an address or a part of one. name is the last part of the value's key.
func isPlace(name, value string) bool {
	switch name = strings.ToLower(name); {
	case !notPlaces.addresses.MatchString(name), isTruth(value): // llama-bench's no_host is a truth value
		return false
	case number.MatchString(value):
		return strings.HasSuffix(name, "port")
	case name == "target" || name == "endpoints":
		return hostPort.MatchString(value)
	}
	return true
}

// userinfo matches a user's name and password in a URL.
var userinfo = regexp.MustCompile(`//[^/@\s]*@`)

// placeless returns a value without the parts that say where a file or a server is, and without passwords. name is the
// last part of the value's key.
func placeless(name, value string) string {
	value = userinfo.ReplaceAllString(value, "//")
	address, err := url.Parse(value)
	isAddress := err == nil && address.Scheme != "" && address.Host != ""
	switch {
	case isAddress && notPlaces.addresses.MatchString(name):
		return "/" + strings.Trim(address.Path, "/")
	case isPlace(name, value):
		return ""
	case holdsSecret.MatchString(value):
		rest := secretWord.ReplaceAllString(value, "$1")
		return fmt.Sprintf("(left out, because it may hold a secret; the rest has the checksum %08x)", crc32.ChecksumIEEE([]byte(rest)))
	case notPlaces.files.MatchString(name) && (filepath.IsAbs(value) || strings.HasPrefix(value, ".") || strings.HasPrefix(value, "~")):
		return filepath.Base(value)
	}
	return value
}

// holdsSecret matches a text with a secret inside, such as the arguments of a command.
var holdsSecret = regexp.MustCompile(`(?i)(api.?key|secret|passw|bearer|authorization|[-_]token[ =:"'])`)

// secretWord matches the words up to a secret in such a text, and the secret.
var secretWord = regexp.MustCompile(`(?i)((?:api.?key|secret|passw|bearer|authorization|token)[\w-]*["']?[\s=:]+(?:["']?(?:bearer|basic)\s+)?)("[^"]*"|'[^']*'|\S+)`)

// isSecret reports whether the value of a key may be a secret, or have a secret in it. Such a value is neither compared
// nor printed. A truth value is no secret, nor is a short number under a key such as max_token.
func isSecret(key, value string) bool {
	key = strings.ToLower(key)
	if isTruth(value) {
		return false
	}
	for _, part := range []string{"secret", "passw", "credential", "auth", "cookie", "header", "bearer", "apikey"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return strings.HasSuffix(key, "key") || strings.HasSuffix(key, "token") && !(len(value) < 8 && number.MatchString(value))
}

// isTruth reports whether a value is true or false.
func isTruth(value string) bool {
	return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
}
