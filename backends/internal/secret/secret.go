// Package secret finds credentials in command lines and environment variables,
// so that logs, errors and results can be shown without them.
package secret

import (
	"slices"
	"strings"
)

// Redact returns the value of the variable name, or [Placeholder] if the value
// is a secret. It replaces only a part of the value, such as the password of a URL, if only the part is a secret.
func Redact(name, value string) string {
	if isSecret(name, value) {
		return Placeholder
	}
	shown, _ := redactText(value)
	return shown
}

// RedactArgs returns a copy of args in which [Placeholder] replaces secrets: the values of options that hold
// secrets, and what redactText finds. It also returns the values that it replaced.
func RedactArgs(args []string) (redacted, secrets []string) {
	redacted = slices.Clone(args)
	for i, arg := range args {
		option, value, assigned := strings.Cut(arg, "=")
		if !strings.HasPrefix(option, "-") || strings.ContainsAny(option, " \t\n") {
			continue
		}
		if assigned {
			if isSecret(option, value) && !isReference(value) {
				redacted[i] = option + "=" + Placeholder
				secrets = append(secrets, value)
			}
			continue
		}
		// Some options take several words, and a secret may begin with a dash.
		for j := i + 1; j < len(args); j++ {
			if first := j == i+1; strings.HasPrefix(args[j], "--") || !first && strings.HasPrefix(args[j], "-") {
				break
			}
			if isSecret(option, args[j]) && !isReference(args[j]) {
				redacted[j] = Placeholder
				secrets = append(secrets, args[j])
			}
		}
	}
	for i, arg := range redacted {
		var found []string
		redacted[i], found = redactText(arg)
		secrets = append(secrets, found...)
	}
	return redacted, secrets
}

// APIKey returns the key that the server requires according to its arguments or environment variables, or
// "". If they set several keys, APIKey returns the first.
func APIKey(args []string, env map[string]string) string {
	for i, arg := range args {
		option, value, assigned := strings.Cut(arg, "=")
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
