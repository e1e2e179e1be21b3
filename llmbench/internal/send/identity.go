package send

import (
	"bytes"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// foreign returns the first ID of another request of this run in text, or "" if there is none. The argument own is
// the ID of the request that text answers, and run is the prefix of all IDs of the run. Many servers repeat the
// ID of a request in the header of the answer, or as a part of the ID of the answer. An ID that continues own
// with more than a digit is own, and so is the beginning of own.
func foreign(text []byte, run, own string) string {
	for {
		at := bytes.Index(text, []byte(run))
		if at < 0 || run == "" {
			return ""
		}
		text = text[at:]
		n := len(run)
		for n < len(text) && n < 2*len(own) && isIDByte(text[n]) {
			n++
		}
		id := text[:n]
		rest, extended := bytes.CutPrefix(id, []byte(own))
		same := extended && (len(rest) == 0 || rest[0] < '0' || rest[0] > '9')
		if !same && !bytes.HasPrefix([]byte(own), id) {
			return string(id)
		}
		text = text[n:]
	}
}

// isIDByte reports whether c can be a part of an ID.
func isIDByte(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// checkIdentity returns a failure if a part of the answer to s names another request of the run: the server, or
// something before it, has then mixed up the answers.
func (r *reader) checkIdentity(s *sample.Sample, text []byte) error {
	if id := foreign(text, r.runID, s.ID); id != "" {
		return fail(sample.Malformed, "the answer is to another request: it names the request %s: want %s", id, s.ID)
	}
	return nil
}

// checkHeader checks the values of all header fields like checkIdentity.
func (r *reader) checkHeader(s *sample.Sample, h http.Header) error {
	for _, values := range h {
		for _, v := range values {
			if err := r.checkIdentity(s, []byte(v)); err != nil {
				return err
			}
		}
	}
	return nil
}
