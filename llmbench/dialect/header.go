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
