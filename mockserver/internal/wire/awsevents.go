package wire

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// awsFailed renders the message of an exception in a stream. named says that the model failed and
// not the service.
func awsFailed(f *frame.Framer, e *Error, named bool) {
	exception := "internalServerException"
	if named {
		exception = "modelStreamErrorException"
	}
	f.BeginException(exception)
	f.Add(`{"message":`, jsontext.Quote(e.message), `}`)
	f.End()
}

// latency returns the time from the arrival of the request to the deadline of the last token.
func (a *Answer) latency() time.Duration {
	return *a.Queued + a.prefillTime() + a.decodeTime(a.Request.Output)
}
