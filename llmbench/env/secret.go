package env

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Secret is a text that the fmt verbs do not show. The zero value is the empty text.
type Secret struct{ text string }

// NewSecret returns a secret that holds text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// String returns "[secret]", or "" if the text is empty.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "[secret]"
}

// GoString returns the same as [Secret.String].
func (s Secret) GoString() string { return s.String() }

// IsSecret reports whether a value is a credential, judged by the name of the environment variable, the
// option or the JSON member that has this value. The last word of the name decides; words are separated as
// in api_key or apiKey. A name that ends in "token" may also be a setting, such as --seconds-per-token=0.5
// or HF_HUB_DISABLE_IMPLICIT_TOKEN=1. A short number, duration or truth value under such a name is
// therefore not a credential.
func IsSecret(name, value string) bool {
	if value == "" {
		return false
	}
	last := lastWord(name)
	switch {
	case strings.HasSuffix(last, "TOKEN") || last == "HFT": // -hft is llama.cpp's short form of --hf-token
		return len(value) >= 8 || !isSetting(value)
	case last == "PWD": // PWD alone is the working directory
		return strings.ContainsAny(strings.TrimLeft(name, "-_"), "-_.")
	case slices.Contains(secretWords, last):
		return true
	}
	return slices.ContainsFunc([]string{"APIKEY", "SECRET", "PASSWORD", "PASSWD"}, func(end string) bool { return strings.HasSuffix(last, end) })
}

// secretWords are the last words that make the value of any name a credential.
var secretWords = []string{"KEY", "KEYS", "PASS", "PASSPHRASE", "PAT", "CREDENTIAL", "CREDENTIALS", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE"}

// lastWord returns the last word of a name such as api_key, api-key, API_KEY or apiKey, in upper case.
func lastWord(name string) string {
	name = strings.TrimRight(name, "-_.")
	name = name[strings.LastIndexAny(name, "-_.")+1:]
	for i := len(name) - 1; i > 0; i-- {
		if unicode.IsUpper(rune(name[i])) && unicode.IsLower(rune(name[i-1])) {
			name = name[i:]
			break
		}
	}
	return strings.ToUpper(name)
}

// isSetting reports whether a value is a number, a duration or a truth value.
func isSetting(value string) bool {
	_, numberErr := strconv.ParseFloat(value, 64)
	_, durationErr := time.ParseDuration(value)
	_, boolErr := strconv.ParseBool(value)
	return numberErr == nil || durationErr == nil || boolErr == nil
}
