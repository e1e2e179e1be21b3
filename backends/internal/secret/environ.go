package secret

import (
	"os"
	"strings"
)

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
