// Package sigv4 verifies signatures of HTTP requests, AWS Signature Version 4. It follows
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html and
// shares no code with a client.
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Key is the key of the one client whose requests a server accepts.
type Key struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // of a temporary key; else empty
	Region          string
	Service         string // name of the service in the scope of a signature
}

// A Refusal is the exception with which AWS answers a request, with status 403.
type Refusal struct{ Exception, Message string }

const (
	algorithm  = "AWS4-HMAC-SHA256"
	terminator = "aws4_request" // the end of a scope
	timeFormat = "20060102T150405Z"
	// Skew is how far the date of a signature may be from the server's time.
	Skew = 5 * time.Minute
)

// Verify returns nil if r, which has the given body, is signed with k at about the time now. A
// refusal has no part of a key.
func (k Key) Verify(r *http.Request, body []byte, now time.Time) *Refusal {
	if r.Header.Get("Authorization") == "" {
		return &Refusal{"MissingAuthenticationTokenException", "Missing Authentication Token"}
	}
	a, refusal := parse(r.Header.Get("Authorization"))
	if refusal != nil {
		return refusal
	}
	date := r.Header.Get("X-Amz-Date")
	if refusal := k.checkScope(a.credential, date); refusal != nil {
		return refusal
	}
	if r.Header.Get("X-Amz-Security-Token") != k.SessionToken {
		return &unknownToken
	}
	if refusal := checkDate(date, now); refusal != nil {
		return refusal
	}
	if name := unsigned(r, a.headers); name != "" {
		return mismatch("'%s' must be a 'SignedHeader' in the AWS Authorization.", name)
	}
	hash := sha256.Sum256([]byte(canonical(r, a.headers, body)))
	_, scope, _ := strings.Cut(a.credential, "/")
	toSign := strings.Join([]string{algorithm, date, scope, hex.EncodeToString(hash[:])}, "\n")
	if !hmac.Equal([]byte(a.signature), []byte(hex.EncodeToString(sum(k.signingKey(date[:8]), toSign)))) {
		return mismatch("The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	return nil
}

// mismatch returns the refusal of a signature that is not valid.
func mismatch(format string, args ...any) *Refusal {
	return &Refusal{"InvalidSignatureException", fmt.Sprintf(format, args...)}
}

var unknownToken = Refusal{"UnrecognizedClientException", "The security token included in the request is invalid."}

// An authorization is the parsed value of the field Authorization.
type authorization struct {
	credential string   // access key ID and scope
	headers    []string // names of the signed header fields, in lower case
	signature  string
}

// parse parses the value of the field Authorization.
func parse(value string) (a authorization, refusal *Refusal) {
	parts, found := strings.CutPrefix(value, algorithm+" ")
	if !found {
		return a, &Refusal{"IncompleteSignatureException", "Authorization header requires the algorithm " + algorithm + "."}
	}
	for part := range strings.SplitSeq(parts, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			a.credential = value
		case "SignedHeaders":
			a.headers = strings.Split(value, ";")
		case "Signature":
			a.signature = value
		}
	}
	for _, p := range []struct {
		name string
		is   bool
	}{{"Credential", a.credential != ""}, {"Signature", a.signature != ""}, {"SignedHeaders", a.headers != nil}} {
		if !p.is {
			return a, &Refusal{"IncompleteSignatureException", "Authorization header requires '" + p.name + "' parameter."}
		}
	}
	return a, nil
}

// checkScope checks the credential of a request that has the given date.
func (k Key) checkScope(credential, date string) *Refusal {
	scope := strings.Split(credential, "/")
	switch {
	case len(scope) != 5 || scope[4] != terminator:
		return &Refusal{"IncompleteSignatureException", "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term."}
	case scope[0] != k.AccessKeyID:
		return &unknownToken
	case len(scope[1]) != 8 || !strings.HasPrefix(date, scope[1]):
		return mismatch("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.")
	case scope[2] != k.Region:
		return mismatch("Credential should be scoped to a valid region.")
	case scope[3] != k.Service:
		return mismatch("Credential should be scoped to correct service: '%s'.", k.Service)
	}
	return nil
}

// checkDate checks that the date of a signature is near the time now.
func checkDate(date string, now time.Time) *Refusal {
	signed, err := time.Parse(timeFormat, date)
	now = now.UTC()
	early, late := now.Add(-Skew), now.Add(Skew)
	switch {
	case err != nil:
		return &Refusal{"IncompleteSignatureException", "Date must be in ISO-8601 'basic format'."}
	case signed.Before(early.Truncate(time.Second)):
		return mismatch("Signature expired: %s is now earlier than %s (%s - 5 min.)", date, early.Format(timeFormat), now.Format(timeFormat))
	case signed.After(late):
		return mismatch("Signature not yet current: %s is still later than %s (%s + 5 min.)", date, late.Format(timeFormat), now.Format(timeFormat))
	}
	return nil
}

// unsigned returns the name of a field that must be signed and is not in the list, or "".
func unsigned(r *http.Request, signed []string) string {
	if !slices.Contains(signed, "host") {
		return "host"
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") && !slices.Contains(signed, name) {
			return name
		}
	}
	return ""
}

// canonical returns the canonical request.
func canonical(r *http.Request, signed []string, body []byte) string {
	var b strings.Builder
	// The path is escaped a second time, as for all services except Amazon S3.
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, escape(r.URL.EscapedPath(), "/"), canonicalQuery(r.URL.Query()))
	for _, name := range signed {
		fmt.Fprintf(&b, "%s:%s\n", name, field(r, name))
	}
	hash := sha256.Sum256(body)
	fmt.Fprintf(&b, "\n%s\n%x", strings.Join(signed, ";"), hash)
	return b.String()
}

// field returns the canonical value of a header field.
func field(r *http.Request, name string) string {
	values := r.Header.Values(name)
	switch {
	case name == "host":
		values = []string{r.Host}
	case name == "content-length" && len(values) == 0:
		values = []string{strconv.FormatInt(r.ContentLength, 10)}
	}
	var trimmed []string
	for _, v := range values {
		trimmed = append(trimmed, strings.Join(strings.Fields(v), " "))
	}
	return strings.Join(trimmed, ",")
}

// canonicalQuery returns the parameters of a query in the order of their escaped names and values.
func canonicalQuery(query url.Values) string {
	var pairs [][2]string
	for name, values := range query {
		for _, v := range values {
			pairs = append(pairs, [2]string{escape(name, ""), escape(v, "")})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	var all []string
	for _, p := range pairs {
		all = append(all, p[0]+"="+p[1])
	}
	return strings.Join(all, "&")
}

// escape escapes all bytes of s except unreserved characters (RFC 3986, 2.3) and those in keep.
func escape(s, keep string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	var b strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// signingKey returns the key for signatures of a day, which has the form YYYYMMDD.
func (k Key) signingKey(day string) []byte {
	key := []byte("AWS4" + k.SecretAccessKey)
	for _, part := range []string{day, k.Region, k.Service, terminator} {
		key = sum(key, part)
	}
	return key
}

// sum returns the HMAC-SHA256 of text.
func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
