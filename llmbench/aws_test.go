package llmbench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// awsKeys returns keys of a test, and a server that accepts them.
func awsKeys() (*AWSKeys, mockserver.Config) {
	const id, secret, token, region = "AKIDEXAMPLE-id", "wJalrXUtnFEMI/K7MDENG+secret", "temporary/token==", "eu-central-1"
	return &AWSKeys{AccessKeyID: id, SecretAccessKey: env.NewSecret(secret), SessionToken: env.NewSecret(token), Region: region},
		mockserver.Config{AWS: &mockserver.AWSKeys{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token, Region: region}}
}

// TestAWSKeys sends signed requests, several over each connection, and one as the next turn of a session.
func TestAWSKeys(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.BedrockConverse{}, dialect.BedrockInvoke{}} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", d.Name(), stream), func(t *testing.T) {
				keys, cfg := awsKeys()
				srv, target := loopback(t, cfg)
				target.Dialect, target.AWS, target.Model = d, keys, "anthropic.mock-v1:0"
				target.URL += "?tenant=a/b&team=blue+green"
				requests := words(8, 3)
				requests[7].Then = []Turn{{Prompt: "five", MaxTokens: 2}}
				for _, s := range onePass(t, target, Load{Requests: requests, Concurrency: 2, NoStream: !stream}) {
					assert.NilError(t, s.Err)
				}
				assert.Equal(t, len(srv.Log()), 9)
				assert.NilError(t, Do(t.Context(), target, words(1, 3)[0], stream).Err)
			})
		}
	}
}

// TestWrongAWSKeys checks that the server's refusal says what is wrong.
func TestWrongAWSKeys(t *testing.T) {
	for want, change := range map[string]func(*AWSKeys){
		`"InvalidSignatureException","message":"The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key`: func(k *AWSKeys) { k.SecretAccessKey = env.NewSecret("another-secret") },
		`"UnrecognizedClientException","message":"The security token included in the request is invalid."`:                                                       func(k *AWSKeys) { k.SessionToken = env.NewSecret("another-token") },
		`"InvalidSignatureException","message":"Credential should be scoped to a valid region."`:                                                                 func(k *AWSKeys) { k.Region = "us-east-1" },
		`"MissingAuthenticationTokenException"`: nil,
	} {
		keys, cfg := awsKeys()
		_, target := loopback(t, cfg)
		target.Dialect = dialect.BedrockConverse{}
		if change != nil {
			change(keys)
			target.AWS = keys
		}
		s := Do(t.Context(), target, words(1, 3)[0], true)
		assert.Equal(t, s.Outcome, sample.HTTP)
		assert.Equal(t, s.Status, http.StatusForbidden)
		assert.ErrorContains(t, s.Err, "status 403 Forbidden: ")
		assert.ErrorContains(t, s.Err, want)
	}
}

// TestAWSKeysAreHidden checks that no key is in a sample or a configuration line if the server repeats the
// request's header, or if the path of the request is invalid.
func TestAWSKeysAreHidden(t *testing.T) {
	keys, _ := awsKeys()
	secrets := []string{keys.AccessKeyID, keys.SecretAccessKey.Reveal(), keys.SessionToken.Reveal()}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Assert(t, strings.Contains(r.Header.Get("Authorization"), keys.AccessKeyID))
		assert.Equal(t, r.Header.Get("X-Amz-Security-Token"), keys.SessionToken.Reveal())
		assert.Assert(t, !strings.Contains(fmt.Sprint(r.Header), keys.SecretAccessKey.Reveal()), "the secret key must stay here")
		w.WriteHeader(http.StatusForbidden)
		text, _ := json.Marshal(append(secrets, fmt.Sprint(r.Header)))
		w.Write(text)
	}))
	defer srv.Close()
	target := Target{URL: srv.URL, Model: "m", Dialect: dialect.BedrockInvoke{}, AWS: keys}
	s := Do(t.Context(), target, words(1, 3)[0], true)
	assert.ErrorContains(t, s.Err, "[redacted]")
	assert.Equal(t, target.config()["signed"], "with AWS keys, region eu-central-1")
	shown := fmt.Sprintf("%v %v %v %+v %#v", s.Err, target.config(), target.Redact(strings.Join(secrets, " ")), keys.SecretAccessKey, keys.SessionToken)
	for _, secret := range secrets {
		assert.Assert(t, !strings.Contains(shown, secret), "%s is in %s", secret, shown)
	}
}

func TestInvalidAWSKeys(t *testing.T) {
	valid := Target{URL: "http://server", Dialect: dialect.BedrockConverse{}, AWS: &AWSKeys{AccessKeyID: "id", SecretAccessKey: env.NewSecret("secret"), Region: "r"}}
	assert.NilError(t, valid.Check())
	for want, change := range map[string]func(*Target){
		"target: AWS keys without access key ID: want an access key ID, a secret access key and a region":          func(t *Target) { t.AWS.AccessKeyID = "" },
		"target: AWS keys without secret access key: want an access key ID, a secret access key and a region":      func(t *Target) { t.AWS.SecretAccessKey = env.Secret{} },
		"target: AWS keys without region: want an access key ID, a secret access key and a region":                 func(t *Target) { t.AWS.Region = "" },
		"target: AWS keys with the dialect openai-chat: want bedrock-converse or bedrock-invoke":                   func(t *Target) { t.Dialect = nil },
		"target: AWS keys and a header Authorization: want one of them, because a signature is sent in this field": func(t *Target) { t.Header = http.Header{"authorization": {"Bearer a"}} },
	} {
		target := valid
		target.AWS = new(*valid.AWS)
		change(&target)
		assert.Error(t, target.Check(), want)
	}
}
