package env

// A Secret is a text that the fmt verbs do not show. The zero value is no secret.
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
