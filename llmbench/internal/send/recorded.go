package send

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// record copies the fields that are to be recorded from the header h of an answer to a sample. It hides
// secrets, because servers repeat them, and keeps only the beginning of a long value.
func (s *Server) record(to *sample.Sample, h http.Header) {
	for _, name := range s.Record {
		if values := h[name]; len(values) > 0 {
			to.Header = append(to.Header, sample.Field{Name: strings.ToLower(name), Value: s.Secrets.Excerpt(strings.Join(values, ", "), maxRecorded)})
		}
	}
}

// traceParent matches a field traceparent: version, trace ID, parent ID and flags
// (https://www.w3.org/TR/trace-context/#traceparent-header).
var traceParent = regexp.MustCompile(`^([0-9a-f]{2})-[0-9a-f]{32}-[0-9a-f]{16}(-[0-9a-f]{2}.*)$`)

// trace gives the field traceparent of a request, if there is one, a trace ID and a parent ID of its own, and
// returns the trace ID. They are the first bytes of the SHA-256 hash of the request's ID, so that also tracers
// that sample by the bits of a trace ID sample at random.
func trace(h http.Header, id string) string {
	parts := traceParent.FindStringSubmatch(h.Get("Traceparent"))
	if parts == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	own := hex.EncodeToString(sum[:16])
	h["Traceparent"] = []string{parts[1] + "-" + own + "-" + hex.EncodeToString(sum[16:24]) + parts[2]}
	return own
}
