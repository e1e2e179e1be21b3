package mockserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAWSKeysAreRequired checks which paths need a signature, and the answer without one. Module
// mockserver/clients has signed requests.
func TestAWSKeysAreRequired(t *testing.T) {
	s, err := New(Config{AWS: &AWSKeys{AccessKeyID: "a", SecretAccessKey: "b", Region: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	for path, want := range map[string]int{
		"/model/m/converse": 403, "/model/m/converse-stream": 403, "/model/m/invoke": 403, "/model/m/invoke-with-response-stream": 403, "/v1/messages": 200,
	} {
		resp, err := http.Post(srv.URL+path, "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"a"}],"max_tokens":1}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s: %s, %v, want status %d: %s", path, resp.Status, err, want, body)
		}
		if refusal := `{"__type":"MissingAuthenticationTokenException","message":"Missing Authentication Token"}`; want == 403 && string(body) != refusal {
			t.Errorf("%s: %s, want %s", path, body, refusal)
		}
	}
	if _, err := New(Config{AWS: &AWSKeys{AccessKeyID: "a", Region: "c"}}); err == nil || err.Error() != "mockserver: aws: want access_key_id, secret_access_key and region, none of them empty" {
		t.Errorf("New without a secret: %v", err)
	}
}
