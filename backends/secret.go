package backends

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// masked stands for a secret wherever something is shown.
const masked = "[secret]"

// shown returns the value of a variable, or a placeholder if it is a secret.
func shown(name, value string) string {
	if isSecret(name, value) {
		return masked
	}
	return value
}

// shownArgs returns args with a placeholder for the value, or the values, of
// each option whose name says that it is a secret; and what it replaced.
func shownArgs(args []string) (all, secrets []string) {
	all = slices.Clone(args)
	for i, a := range args {
		option, value, assigned := strings.Cut(a, "=")
		if !strings.HasPrefix(option, "-") {
			continue
		}
		if assigned {
			if isSecret(option, value) {
				all[i] = option + "=" + masked
				secrets = append(secrets, value)
			}
			continue
		}
		// Some options take several words, and a secret may begin with a dash.
		for j := i + 1; j < len(args); j++ {
			if first := j == i+1; strings.HasPrefix(args[j], "--") || !first && strings.HasPrefix(args[j], "-") {
				break
			}
			if isSecret(option, args[j]) {
				all[j] = masked
				secrets = append(secrets, args[j])
			}
		}
	}
	return all, secrets
}

// isSecret reports whether the value of a variable or an option is a credential,
// going by its name. What ends in token may be a setting, like
// --seconds-per-token=0.5 or HF_HUB_DISABLE_IMPLICIT_TOKEN=1: a short number,
// duration or truth value is none.
func isSecret(name, value string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '-' || r == '_' })
	if len(words) == 0 || value == "" {
		return false
	}
	switch words[len(words)-1] {
	case "KEY", "KEYS", "APIKEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS":
		return true
	case "TOKEN", "HFT": // llama.cpp's -hft is --hf-token
		return len(value) >= leastHidden || !plain(value)
	}
	return false
}

// plain reports whether a value is too simple to be a token.
func plain(value string) bool {
	_, noNumber := strconv.ParseFloat(value, 64)
	_, noDuration := time.ParseDuration(value)
	_, noBool := strconv.ParseBool(value)
	return noNumber == nil || noDuration == nil || noBool == nil
}

// leastHidden is the length from which a secret is looked for in what is shown,
// in bytes. A shorter one would be found in digests and figures that have nothing
// to do with it.
const leastHidden = 8

// hidden returns those of the secrets that are to be looked for, the longest
// first, so that one which begins another does not give away the rest of that.
func hidden(secrets []string) []string {
	all := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < leastHidden })
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// apiKey returns the key that the server is told to ask for, if it is told so:
// clients send the first where there are several.
func apiKey(args []string, env map[string]string) string {
	for i, a := range args {
		option, value, assigned := strings.Cut(a, "=")
		switch option {
		case "--api-key", "--api_key", "--api-keys":
			if !assigned && i+1 < len(args) {
				value = args[i+1]
			}
			return value
		}
	}
	for _, name := range []string{"VLLM_API_KEY", "LLAMA_API_KEY", "API_KEY"} {
		if env[name] != "" {
			return env[name]
		}
	}
	return ""
}
