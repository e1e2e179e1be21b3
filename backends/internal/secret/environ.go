package secret

import (
	"os"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// InVariable returns the secrets in the value of an environment variable that the user sets for a server: what [RedactArgs]
// finds in the assignment NAME=value, and the whole value if the name says that it is a credential.
func InVariable(name, value string) (secrets []string) {
	_, secrets = RedactArgs([]string{name + "=" + value})
	if env.IsSecret(name, value) {
		secrets = append(secrets, value)
	}
	return secrets
}

// Inherited returns the secrets in an environment of entries NAME=value that a process inherits. They are values
// whose names say so, users and passwords in URLs, and random texts. The name of a file is not a secret.
func Inherited(environ []string) (secrets []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if _, err := os.Stat(value); err == nil {
			continue
		}
		if isSecret(name, value) {
			secrets = append(secrets, value)
		}
		_, found := redactText(value)
		secrets = append(secrets, found...)
	}
	return secrets
}
