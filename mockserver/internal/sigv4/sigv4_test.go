package sigv4

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// The request and the key of the example that AWS's documentation computed step by step until 2022
// (https://docs.aws.amazon.com/general/latest/gr/sigv4-calculate-signature.html).
var (
	key = Key{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "iam"}
	day = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
)

const signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"

func example() *http.Request {
	r := httptest.NewRequest("GET", "https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers", nil)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded;   charset=utf-8 ")
	r.Header.Set("X-Amz-Date", "20150830T123600Z")
	r.Header.Set("Authorization", signature)
	return r
}

func TestKnownSignature(t *testing.T) {
	assert.Assert(t, key.Verify(example(), nil, day) == nil)
	assert.Assert(t, key.Verify(example(), nil, day.Add(Skew)) == nil)
	assert.Assert(t, key.Verify(example(), nil, day.Add(-Skew)) == nil)
}

func TestRefusals(t *testing.T) {
	const wrong = "InvalidSignatureException: The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	authorization := func(old, new string) func(*http.Request, *Key) {
		return func(r *http.Request, _ *Key) {
			r.Header.Set("Authorization", strings.Replace(signature, old, new, 1))
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*http.Request, *Key)
		body   string
		after  time.Duration
		want   string
	}{
		{"not signed", func(r *http.Request, _ *Key) { r.Header.Del("Authorization") }, "", 0, "MissingAuthenticationTokenException: Missing Authentication Token"},
		{"a bearer token", func(r *http.Request, _ *Key) { r.Header.Set("Authorization", "Bearer a") }, "", 0, "IncompleteSignatureException: Authorization header requires the algorithm AWS4-HMAC-SHA256."},
		{"no credential", authorization("Credential", "C"), "", 0, "IncompleteSignatureException: Authorization header requires 'Credential' parameter."},
		{"no signature", authorization("Signature=5", "S=5"), "", 0, "IncompleteSignatureException: Authorization header requires 'Signature' parameter."},
		{"no names", authorization("SignedHeaders", "S"), "", 0, "IncompleteSignatureException: Authorization header requires 'SignedHeaders' parameter."},
		{"a short credential", authorization("/aws4_request", ""), "", 0, "IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term."},
		{"another key", authorization("AKID", "AKIE"), "", 0, "UnrecognizedClientException: The security token included in the request is invalid."},
		{"another day", authorization("20150830", "20150831"), "", 0, "InvalidSignatureException: Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP."},
		{"no day", authorization("20150830", ""), "", 0, "InvalidSignatureException: Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP."},
		{"another region", authorization("us-east-1", "us-east-2"), "", 0, "InvalidSignatureException: Credential should be scoped to a valid region."},
		{"another service", authorization("/iam/", "/s3/"), "", 0, "InvalidSignatureException: Credential should be scoped to correct service: 'iam'."},
		{"a token missing", func(_ *http.Request, k *Key) { k.SessionToken = "t" }, "", 0, "UnrecognizedClientException: The security token included in the request is invalid."},
		{"an unknown token", func(r *http.Request, _ *Key) { r.Header.Set("X-Amz-Security-Token", "t") }, "", 0, "UnrecognizedClientException: The security token included in the request is invalid."},
		{"late", func(*http.Request, *Key) {}, "", Skew + time.Second, "InvalidSignatureException: Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z (20150830T124101Z - 5 min.)"},
		{"early", func(*http.Request, *Key) {}, "", -Skew - time.Second, "InvalidSignatureException: Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z (20150830T123059Z + 5 min.)"},
		{"a bad date", func(r *http.Request, _ *Key) { r.Header.Set("X-Amz-Date", "20150830") }, "", 0, "IncompleteSignatureException: Date must be in ISO-8601 'basic format'."},
		{"the host not signed", authorization("host;", ""), "", 0, "InvalidSignatureException: 'host' must be a 'SignedHeader' in the AWS Authorization."},
		{"a field not signed", func(r *http.Request, _ *Key) { r.Header.Set("X-Amz-Target", "t") }, "", 0, "InvalidSignatureException: 'x-amz-target' must be a 'SignedHeader' in the AWS Authorization."},
		{"another secret", func(_ *http.Request, k *Key) { k.SecretAccessKey += "x" }, "", 0, wrong},
		{"another body", func(*http.Request, *Key) {}, "x", 0, wrong},
		{"another path", func(r *http.Request, _ *Key) { r.URL.Path = "/a" }, "", 0, wrong},
		{"another query", func(r *http.Request, _ *Key) { r.URL.RawQuery += "&a" }, "", 0, wrong},
		{"another host", func(r *http.Request, _ *Key) { r.Host = "gateway" }, "", 0, wrong},
		{"another method", func(r *http.Request, _ *Key) { r.Method = "POST" }, "", 0, wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, k := example(), key
			tt.change(r, &k)
			got := k.Verify(r, []byte(tt.body), day.Add(tt.after))
			assert.Assert(t, got != nil)
			assert.Equal(t, got.Exception+": "+got.Message, tt.want)
		})
	}
}

// TestCanonicalQuery checks the order and the escaping of parameters.
func TestCanonicalQuery(t *testing.T) {
	r := httptest.NewRequest("GET", "/a%3Ab/c?k=a-b&k=a%2Fb&b=c+d&a", nil)
	assert.Equal(t, canonicalQuery(r.URL.Query()), "a=&b=c%20d&k=a%2Fb&k=a-b")
	assert.Equal(t, escape(r.URL.EscapedPath(), "/"), "/a%253Ab/c")
}

// FuzzVerify checks that no header is accepted except the right one, and that none stops the server.
func FuzzVerify(f *testing.F) {
	f.Add(signature, "20150830T123600Z")
	f.Add("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE//us-east-1/iam/aws4_request,SignedHeaders=host,Signature=a", "")
	f.Fuzz(func(t *testing.T, authorization, date string) {
		r := example()
		r.Header.Set("Authorization", authorization)
		r.Header.Set("X-Amz-Date", date)
		if key.Verify(r, nil, day) == nil {
			assert.Assert(t, strings.Contains(authorization, "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"))
		}
	})
}
