package dialect

import "net/http"

// A Headerer is a [Dialect] whose requests need header fields of their own, such as the version of the API.
type Headerer interface {
	// Header returns new header fields, which each request has unless its target sets the same fields.
	Header() http.Header
}

// A Keyer is a [Dialect] whose requests do not carry their API key as a bearer token.
type Keyer interface {
	// KeyHeader returns the canonical name and the value of the header field that carries key.
	KeyHeader(key string) (name, value string)
}

// KeyHeader returns the canonical name and the value of the header field that carries key in requests of
// dialect d. The field is Authorization, and the value is a bearer token (RFC 6750), unless d is a [Keyer].
func KeyHeader(d Dialect, key string) (name, value string) {
	if k, ok := d.(Keyer); ok {
		return k.KeyHeader(key)
	}
	return "Authorization", "Bearer " + key
}

// An AWS is a [Dialect] of an AWS service, whose requests may be signed with AWS keys instead of carrying an
// API key.
type AWS interface {
	// AWSService returns the service's name in the scope of a signature
	// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-signing-elements.html).
	AWSService() string
}

// AWSService returns the name of the AWS service whose API d is, and false if d is not an [AWS].
func AWSService(d Dialect) (name string, ok bool) {
	a, ok := d.(AWS)
	if !ok {
		return "", false
	}
	return a.AWSService(), true
}
