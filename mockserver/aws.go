package mockserver

import (
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/sigv4"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// AWSKeys are the credentials with which a client signs its requests to Amazon Bedrock.
type AWSKeys struct {
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	SessionToken    string `json:"session_token,omitzero"` // of temporary keys; else empty
	Region          string `json:"region"`
}

// unsigned returns the answer to a request of dialect d that must be signed with k and is not, and otherwise
// nil. The request arrived at now. k may be nil.
func (k *AWSKeys) unsigned(r *http.Request, body []byte, d *wire.Dialect, now time.Time) *wire.Error {
	if k == nil || d.AWSService == "" {
		return nil
	}
	key := sigv4.Key{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken, Region: k.Region, Service: d.AWSService}
	if refusal := key.Verify(r, body, now); refusal != nil {
		return wire.NewError(http.StatusForbidden, refusal.Exception, "", refusal.Message)
	}
	return nil
}
