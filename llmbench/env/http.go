package env

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"os"
	"slices"
	"strings"
)

// A Header holds HTTP header fields in the form of http.Header. The fmt verbs show only the names, because
// the values may be secret.
type Header map[string][]string

// String returns the names of the fields.
func (h Header) String() string { return strings.Join(slices.Sorted(maps.Keys(h)), ", ") }

// GoString returns the same as [Header.String].
func (h Header) GoString() string { return h.String() }

// ParseHeader parses HTTP header fields, one on each line in the form "Name: value". Its errors do not show
// the fields, which may be secret, only the number of the line.
func ParseHeader(v string) (Header, error) {
	h := textproto.MIMEHeader{}
	number := 0
	for line := range strings.Lines(v) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found || name == "" || strings.ContainsAny(name, " \t\r") {
			return nil, Reason(fmt.Sprintf("line %d: want Name: value on each line", number))
		}
		h.Add(name, strings.TrimSpace(value))
	}
	if len(h) == 0 {
		return nil, errors.New("blank")
	}
	return Header(h), nil
}

// CertPool reads a file of PEM certificates, and returns the certificates.
func CertPool(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in PEM")
	}
	return pool, nil
}
