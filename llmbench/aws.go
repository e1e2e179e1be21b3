package llmbench

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	awskeys "github.com/aws/smithy-go/aws-http-auth/credentials"
	"github.com/aws/smithy-go/aws-http-auth/sigv4"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// AWSKeys are the credentials with which requests to an AWS service are signed (Signature Version 4,
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
//
// A signature covers the method, the path with the prefix of the target's URL, the query, the host, the
// header fields that begin with X-Amz-, and the SHA-256 hash of the body. It covers no other field, so a
// gateway may change or add fields. A gateway that changes the path or the host must sign again. The service
// accepts a signature for five minutes.
type AWSKeys struct {
	AccessKeyID     string
	SecretAccessKey env.Secret
	// SessionToken belongs to temporary keys; others have none.
	SessionToken env.Secret
	// Region is the region of the endpoint, such as us-east-1.
	Region string
}

// check returns an error if k is incomplete, or if requests of t cannot be signed with k. The error shows no
// key.
func (k *AWSKeys) check(t Target) error {
	if _, ok := dialect.AWSService(t.dialect()); !ok {
		return fmt.Errorf("AWS keys with the dialect %s: want bedrock-converse or bedrock-invoke", t.dialect().Name())
	}
	if authorization(t.Header) != nil {
		return errors.New("AWS keys and a header Authorization: want one of them, because a signature is sent in this field")
	}
	for _, f := range []struct{ name, value string }{
		{"access key ID", k.AccessKeyID}, {"secret access key", k.SecretAccessKey.Reveal()}, {"region", k.Region},
	} {
		if f.value == "" {
			return fmt.Errorf("AWS keys without %s: want an access key ID, a secret access key and a region", f.name)
		}
	}
	return nil
}

// secrets returns the credentials in k, which may be nil.
func (k *AWSKeys) secrets() []string {
	if k == nil {
		return nil
	}
	return []string{k.AccessKeyID, k.SecretAccessKey.Reveal(), k.SessionToken.Reveal()}
}

// signer returns a function that signs requests of dialect d, or nil if k is nil. The function adds the
// header fields of a signature that is made at the given instant, and replaces older ones.
func (k *AWSKeys) signer(d dialect.Dialect) func(r *http.Request, body []byte, at time.Time) error {
	if k == nil {
		return nil
	}
	service, _ := dialect.AWSService(d)
	keys := awskeys.Credentials{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey.Reveal(), SessionToken: k.SessionToken.Reveal()}
	s := sigv4.New()
	return func(r *http.Request, body []byte, at time.Time) error {
		hash := sha256.Sum256(body)
		return s.SignRequest(&sigv4.SignRequestInput{Request: r, PayloadHash: hash[:], Credentials: keys, Service: service, Region: k.Region, Time: at})
	}
}
