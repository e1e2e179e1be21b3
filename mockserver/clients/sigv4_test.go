package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestSignatures checks which signatures of the SDK the server accepts.
func TestSignatures(t *testing.T) {
	permanent := mockserver.AWSKeys{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG", Region: "us-east-1"}
	temporary := permanent
	temporary.SessionToken = "IQoJb3JpZ2luX2VjE+a/b=="
	for _, tt := range []struct {
		name    string
		server  mockserver.AWSKeys
		change  func(*bedrockruntime.Options)
		refusal string // exception, or "" if the request is accepted
	}{
		{"permanent", permanent, func(*bedrockruntime.Options) {}, ""},
		{"temporary", temporary, func(o *bedrockruntime.Options) {
			o.Credentials = credentials.NewStaticCredentialsProvider(temporary.AccessKeyID, temporary.SecretAccessKey, temporary.SessionToken)
		}, ""},
		{"without the token", temporary, func(*bedrockruntime.Options) {}, "UnrecognizedClientException"},
		{"another secret", permanent, func(o *bedrockruntime.Options) {
			o.Credentials = credentials.NewStaticCredentialsProvider(permanent.AccessKeyID, "another", "")
		}, "InvalidSignatureException"},
		{"another id", permanent, func(o *bedrockruntime.Options) {
			o.Credentials = credentials.NewStaticCredentialsProvider("another", permanent.SecretAccessKey, "")
		}, "UnrecognizedClientException"},
		{"another region", permanent, func(o *bedrockruntime.Options) { o.Region = "eu-west-1" }, "InvalidSignatureException"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := serve(t, mockserver.Config{AWS: &tt.server})
			client := bedrockruntime.New(bedrockOptions(m), func(o *bedrockruntime.Options) {
				o.Credentials = credentials.NewStaticCredentialsProvider(permanent.AccessKeyID, permanent.SecretAccessKey, "")
			}, tt.change)
			answer, err := client.Converse(t.Context(), converseInput(4))
			if tt.refusal == "" {
				assert.NilError(t, err)
				assert.Equal(t, *answer.Usage.OutputTokens, int32(4))
				return
			}
			e, ok := errors.AsType[smithy.APIError](err)
			assert.Assert(t, ok, "%v", err)
			assert.Equal(t, e.ErrorCode(), tt.refusal)
			response, ok := errors.AsType[*smithyhttp.ResponseError](err)
			assert.Assert(t, ok && response.HTTPStatusCode() == http.StatusForbidden, "%v", err)
		})
	}
}

// TestSignatureOfLLMBench signs requests of llmbench again, with the SDK's signer, and compares the
// signatures. The server is a gateway with a prefix, a query and a virtual host.
func TestSignatureOfLLMBench(t *testing.T) {
	const id, secret, token, region = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "IQoJb3JpZ2luX2VjE+a/b==", "us-east-1"
	m := serve(t, mockserver.Config{})
	checked := 0
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NilError(t, err)
		signedAt, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		assert.NilError(t, err)
		assert.Assert(t, time.Since(signedAt) < time.Minute)
		assert.Equal(t, r.Host, "bedrock.internal")
		again, err := http.NewRequest(r.Method, "http://"+r.Host+r.RequestURI, nil)
		assert.NilError(t, err)
		hash := sha256.Sum256(body)
		assert.NilError(t, v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token},
			again, hex.EncodeToString(hash[:]), "bedrock", region, signedAt))
		assert.Equal(t, r.Header.Get("Authorization"), again.Header.Get("Authorization"))
		checked++
		r.URL.Path, r.URL.RawPath = strings.TrimPrefix(r.URL.Path, "/gw"), ""
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		m.ServeHTTP(w, r)
	}))
	defer gateway.Close()
	target := llmbench.Target{
		URL: gateway.URL + "/gw?tenant=a%2Fb&b=c+d&tenant=a-b", Model: "us.anthropic.mock-v1:0", Header: http.Header{"Host": {"bedrock.internal"}},
		AWS: &llmbench.AWSKeys{AccessKeyID: id, SecretAccessKey: env.NewSecret(secret), SessionToken: env.NewSecret(token), Region: region},
	}
	for _, target.Dialect = range []dialect.Dialect{dialect.BedrockConverse{}, dialect.BedrockInvoke{}} {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "say three words", MaxTokens: 3}, true)
		assert.NilError(t, s.Err)
	}
	assert.Equal(t, checked, 2)
}
