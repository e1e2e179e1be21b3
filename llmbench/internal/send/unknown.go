package send

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// cutShort returns a failure if nothing shows that a successful answer is complete: its finish reason is unknown,
// and it has fewer output tokens than the request asked for exactly.
func cutShort(s *sample.Sample) error {
	if !s.UnknownFinish || !s.FixedOutput || s.OutputTokens >= s.MaxTokens {
		return nil
	}
	what := fmt.Sprintf("the finish reason %q is unknown", s.Finish)
	if s.Finish == "" {
		what = "the answer has no finish reason"
	}
	if s.OutputTokens == 0 {
		return fail(sample.Truncated, "%s, and the number of output tokens is unknown; the request asked for exactly %d", what, s.MaxTokens)
	}
	return fail(sample.Truncated, "%s, and the answer has %d output tokens; the request asked for exactly %d", what, s.OutputTokens, s.MaxTokens)
}

// quote adds to a failure what the client did not understand of the answer, which may be its cause: a line, a
// document that is not part of an answer, or else the member s.Unread. It returns nil if err is nil.
func quote(err error, s *sample.Sample, line, document string) error {
	if err == nil {
		return nil
	}
	f := asFailure(err)
	switch text := cmp.Or(line, document); {
	case !slices.Contains([]sample.Outcome{sample.Truncated, sample.Malformed, sample.Empty}, f.Outcome):
	case text != "":
		return failure{f.Outcome, fmt.Errorf("%w; not understood: %q", f.error, text)}
	case s.Unread != "":
		return failure{f.Outcome, fmt.Errorf("%w; not understood: the member %s", f.error, s.Unread)}
	}
	return err
}
