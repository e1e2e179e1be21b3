package env

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestParseHeader(t *testing.T) {
	h, err := ParseHeader("x-team: blue\r\n\n  X-Team:red:green \nAuthorization: Basic cGxhbnRlZA==\nX-Empty:")
	assert.NilError(t, err)
	assert.DeepEqual(t, h, Header{"X-Team": {"blue", "red:green"}, "Authorization": {"Basic cGxhbnRlZA=="}, "X-Empty": {""}})
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, fmt.Sprintf(format, h), "Authorization, X-Empty, X-Team", format)
	}
	for v, want := range map[string]string{
		"planted":            "line 1: want Name: value on each line",
		"A: b\nC d: planted": "line 2: want Name: value on each line",
		": planted":          "line 1: want Name: value on each line",
		"A\r: planted":       "line 1: want Name: value on each line",
		" \n":                "blank",
	} {
		_, err := ParseHeader(v)
		assert.Error(t, err, want)
	}
}

func TestCertPool(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	assert.NilError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o666))
	pool, err := CertPool(file)
	assert.NilError(t, err)
	assert.Assert(t, !pool.Equal(nil))
	_, err = CertPool(os.DevNull)
	assert.ErrorContains(t, err, "no certificate in PEM")
	_, err = CertPool(file + "x")
	assert.ErrorContains(t, err, "no such file")
}

// TestReason checks that the error about a hidden value has the reason instead of what is allowed.
func TestReason(t *testing.T) {
	r := NewReader([]string{"LLMBENCH_HEADER=planted"})
	var h Header
	ReadHidden(r, &h, "LLMBENCH_HEADER", ParseHeader, "something else")
	assert.Error(t, r.Err(), "LLMBENCH_HEADER=[not shown]: line 1: want Name: value on each line")
}

func TestIsSecret(t *testing.T) {
	for _, secret := range []string{"api_key=1", "--api-keys=a", "HF_TOKEN=abc", "bos-token=12345678", "password=x", "Authorization=x", "REDIS_AUTH=x", "_auth=x", "apiKey=x", "clientSecret=x", "oauth.accessToken=abc", "APIKey_=x"} {
		name, value, _ := strings.Cut(secret, "=")
		assert.Assert(t, IsSecret(name, value), secret)
	}
	for _, setting := range []string{"api_key=", "max_tokens=512345678", "seconds_per_token=0.5", "keyboard=x", "=x", "maxTokens=512345678", "secondsPerToken=0.5", "_=x"} {
		name, value, _ := strings.Cut(setting, "=")
		assert.Assert(t, !IsSecret(name, value), setting)
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("A: b\nC:d")
	f.Fuzz(func(t *testing.T, v string) {
		h, err := ParseHeader(v)
		if err == nil {
			assert.Assert(t, len(h) > 0 && !strings.ContainsAny(h.String(), "\r\n"), "%q: %q", v, h)
		}
	})
}
