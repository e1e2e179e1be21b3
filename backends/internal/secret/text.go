package secret

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Placeholder replaces a secret in everything that is shown.
const Placeholder = "[secret]"

var (
	// userinfo matches the user and the password in a URL.
	userinfo = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#'"@]+)@`)
	// named matches a name with a value, as in NAME=value, "name": "value", Name: value or --name value. The
	// value may be quoted as in a shell. In a header field, the value may have several words.
	named = regexp.MustCompile(`([A-Za-z_][\w.-]*)(?:["'\])]*\s*(?::=|=>|[:=])\s*|["']?\s+)((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\;&|<>()` + "`" + `])+)`)
	// quotation matches a quoted text.
	quotation = regexp.MustCompile(`^(?:"(?:\\.|[^"\\])*"|'[^']*')`)
	// fieldValue matches a scheme of the field Authorization and the credential after it.
	fieldValue = regexp.MustCompile(`^[A-Za-z][\w-]*[ \t]+[^\s"']+`)
	// token matches a word that may be a random text.
	token = regexp.MustCompile(`[A-Za-z0-9_+/=.-]+`)
	// run matches letters and digits.
	run = regexp.MustCompile(`[A-Za-z0-9]+`)
	// reference matches what stands for a value: a variable of a shell, or a placeholder such as {port}.
	reference = regexp.MustCompile(`^["']?(?:\$\w*|\$?\{\w+\})["']?$`)
)

// userOptions are options whose value is a user and a password, with a colon between them.
var userOptions = []string{"u", "user", "proxy-user"}

// isNumber reports whether text has digits only, like the group in --user 1000:1000.
func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// isReference reports whether a value is no secret itself, but stands for one or is one's [Placeholder].
func isReference(value string) bool { return reference.MatchString(value) || value == Placeholder }

// redactText returns text in which [Placeholder] replaces secrets, and the secrets. The text may be a script of a
// shell, JSON, a header field or any other text. Secrets are values whose names say so, users and passwords in
// URLs, and random texts.
func redactText(text string) (redacted string, secrets []string) {
	var spans [][2]int
	found := func(from, to int) {
		secret := text[from:to]
		if isReference(secret) || strings.Trim(secret, `"'`) == "" {
			return
		}
		spans = append(spans, [2]int{from, to})
		if words, err := shellquote.Split(secret); err == nil && len(words) == 1 {
			secret = words[0]
		}
		secrets = append(secrets, secret)
	}
	for _, at := range userinfo.FindAllStringSubmatchIndex(text, -1) {
		found(at[2], at[3])
		if user, password, both := strings.Cut(text[at[2]:at[3]], ":"); both {
			secrets = append(secrets, password)
			if decoded, err := url.PathUnescape(password); err == nil {
				secrets = append(secrets, decoded)
				if name, err := url.PathUnescape(user); err == nil {
					secrets = append(secrets, name+":"+decoded)
				}
			}
		}
	}
	for at := 0; at < len(text); {
		m := named.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		for i := range m {
			m[i] += at
		}
		at = m[3] // the value may itself be a name
		name, value := text[m[2]:m[3]], text[m[4]:m[5]]
		separator := strings.TrimLeft(text[m[3]:m[4]], `"'])`)
		if strings.TrimSpace(separator) == "" && (m[2] == 0 || text[m[2]-1] != '-') { // a word that follows a word
			continue
		}
		plain := strings.Trim(value, `"'`)
		if user, password, both := strings.Cut(plain, ":"); both && m[2] > 0 && text[m[2]-1] == '-' && slices.Contains(userOptions, name) && !isNumber(password) {
			found(m[4], m[5])
			secrets = append(secrets, password, user+":"+password)
			at = m[5]
			continue
		}
		if !isSecret(name, plain) {
			continue
		}
		end := m[5]
		if strings.TrimSpace(separator) == ":" { // JSON or a header field, not a shell
			if quoted := quotation.FindString(value); quoted != "" {
				end = m[4] + len(quoted)
			} else if i := strings.IndexAny(value, ",}"); i > 0 {
				end = m[4] + i
			} else if words := fieldValue.FindString(text[m[4]:]); words != "" {
				end = max(end, m[4]+len(words))
				secrets = append(secrets, words[strings.LastIndexAny(words, " \t")+1:])
			}
		}
		found(m[4], end)
		at = end
	}
	for _, at := range token.FindAllStringIndex(text, -1) {
		from, to := randomPart(text[at[0]:at[1]])
		if from, to = at[0]+from, at[0]+to; from < to && !slices.ContainsFunc(spans, func(s [2]int) bool { return at[0] < s[1] && s[0] < at[1] }) {
			found(at[0]+strings.LastIndexByte(text[at[0]:from], '=')+1, at[1]) // without the name in NAME=value
			secrets = append(secrets, text[from:to])                           // a program may use it without the path or the prefix before it
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s[1] <= at {
			continue
		}
		b.WriteString(text[at:max(at, s[0])])
		b.WriteString(Placeholder)
		at = s[1]
	}
	return b.String() + text[at:], secrets
}

// leastRandom is the minimum length in bytes of a random text.
const leastRandom = 16

// randomPart returns where a random text is in a word: a run of letters and digits in which the kind (lower case, upper
// case, digit) changes at two in five characters. If there is none, from and to are equal. Hexadecimal digits are not
// random in this sense, because they are usually digests or commits.
func randomPart(word string) (from, to int) {
	for _, at := range run.FindAllStringIndex(word, -1) {
		run := word[at[0]:at[1]]
		changes, lower, upper := 0, false, false
		for i := range len(run) {
			kind := kindOf(run[i])
			lower, upper = lower || kind == 'a', upper || kind == 'A'
			if i > 0 && kind != kindOf(run[i-1]) {
				changes++
			}
		}
		if len(run) >= leastRandom && lower && upper && changes*5 >= len(run)*2 {
			return at[0], at[1]
		}
	}
	return 0, 0
}

// kindOf returns 'a' for a lower-case letter, 'A' for an upper-case one, and '0' for a digit.
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	}
	return '0'
}
