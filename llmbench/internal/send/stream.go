package send

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A stream is the state of one streamed answer.
type stream struct {
	idle    *idleTimer    // nil before the first event
	done    bool          // the end marker has come
	fault   error         // the first fault
	usage   dialect.Usage // as reported so far
	tokens  int           // sum of the counts that the server reported with single events
	strange string        // the beginning of the last document that was not understood
}

// readStream reads a streamed answer to the end of the body, even after an error or after the end marker,
// so that the connection can be used again. Its frame is in the stack of a waiting stream, so it leaves
// everything that happens once to other functions.
func (r *reader) readStream(ctx context.Context, s *sample.Sample, giveUp context.CancelCauseFunc) error {
	var st stream
	defer r.leaveStream(&st)
	for {
		r.part = conn.Arrival{}
		if r.events.Buffered() > 0 {
			r.part = r.src.Data
		} else if r.src.Fast() && r.rests(s, r.src.Data.User) {
			time.Sleep(restTime)
		}
		e, err := r.events.Next()
		if err != nil {
			return r.ended(ctx, &st, s, err)
		}
		r.heard.Store(int64(r.src.Data.User))
		if st.idle == nil {
			st.idle = newIdleTimer(r.options.IdleTimeout, r.clock, giveUp)
			st.idle.sign(r.src.Data.User)
			r.queued = st.idle
		}
		if r.addEvent(&st, s, &e) {
			st.idle.sign(r.src.Data.User)
		}
		if err := r.enough(ctx, &st, s, giveUp); err != nil {
			return err
		}
	}
}

const (
	// restTime is how long the client rests that has read everything of a fast stream. Go may sleep a millisecond longer.
	restTime = 200 * time.Microsecond
	// restEnd is how long the answer must probably still last for the client to rest, so that it does not notice the end
	// late, and does not send its next request late.
	restEnd = 5 * time.Millisecond
	// mostAtOnce is how many deltas an engine sends at once, at most. The end may come as fast as they do.
	mostAtOnce = 16
)

// rests reports whether the client may rest at the instant now, so that several segments of a fast stream arrive before
// it reads again. If the client were woken for each of them, each delta would cost more CPU time (BenchmarkChunk with unpaced
// tokens), and a server on the same machine would be disturbed by each. The instants of the deltas stay the same,
// because they are the kernel's. The client must know how many tokens will come, at least until it leaves.
func (r *reader) rests(s *sample.Sample, now time.Duration) bool {
	end := s.MaxTokens
	if r.leaveAfter > 0 {
		end = min(end, r.leaveAfter)
	}
	left := time.Duration(end - s.Deltas)
	return s.FixedOutput && s.Outputs > 0 && left > mostAtOnce && (now-s.FirstOutput)*left >= restEnd*time.Duration(s.Outputs)
}

// leaveStream releases what a stream used.
func (r *reader) leaveStream(st *stream) {
	st.idle.stop()
	r.queued = nil
	r.events.Reset(http.NoBody) // large events of other streams may need the budget of these buffers
	if d := &r.delta; cap(d.Text)+cap(d.Reasoning)+cap(d.ToolCall)+cap(d.ToolName) > maxSpare {
		*d = dialect.Delta{}
	}
}

// ended completes the sample of a stream whose body has ended with err. It returns the failure of the
// request, or nil. The error err is io.EOF if the body ended as its framing says.
func (r *reader) ended(ctx context.Context, st *stream, s *sample.Sample, err error) error {
	if err == io.EOF {
		r.closeBatch() // the end of the body may have come in a separate segment
	}
	err = r.outcome(ctx, st, s, err)
	line, _ := r.ignoredLine()
	return quote(err, s, r.server.Secrets.Excerpt(cmp.Or(r.lost, string(line)), maxQuoted), st.strange)
}

// maxQuoted is the maximum length in bytes of a line that a failure quotes.
const maxQuoted = 200

// ignoredLine returns the last line of the stream that is no field of an event stream, and whether the stream lost
// something with it; see [sse.Decoder.Ignored].
func (r *reader) ignoredLine() (line []byte, lost bool) {
	if r.events != r.sse {
		return nil, false
	}
	return r.sse.Ignored()
}

// outcome returns the failure of a stream whose body has ended with err, or nil.
func (r *reader) outcome(ctx context.Context, st *stream, s *sample.Sample, err error) error {
	switch {
	case st.fault != nil:
		return st.fault // an engine that dies reports the reason before the connection breaks
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, dialect.ErrCorrupt):
		return failure{sample.Malformed, err}
	case err != io.EOF:
		return interrupted(ctx, r.options, sample.Truncated, err)
	}
	line, lost := r.ignoredLine()
	switch {
	case string(line) == sse.LostError:
		return fail(sample.ServerError, "an error event without data")
	case s.Events == 0:
		return fail(sample.Empty, "no event in the stream")
	}
	if err := r.parser.End(); err != nil {
		return failure{sample.Truncated, err}
	}
	switch {
	case lost || r.lost != "":
		return fail(sample.Malformed, "the stream has a line that looks like data, but is no data field, so that its text is lost")
	case len(line) > 0 && s.Finish == "":
		return fail(sample.Truncated, "the stream has no finish reason, and a line that is not a field")
	}
	s.DeltaTokens = stateDeltaTokens(r.tokens, s.Deltas)
	return r.countTokens(s, st.usage, st.tokens, s.Deltas > 0)
}

// enough returns the failure of a stream that the client ends itself: because the stream is too long, or
// because the client leaves after some deltas. It returns nil if the stream goes on.
func (r *reader) enough(ctx context.Context, st *stream, s *sample.Sample, giveUp context.CancelCauseFunc) error {
	if err := r.size.check(); err != nil {
		return cmp.Or(st.fault, err)
	}
	if st.fault != nil {
		return nil
	}
	if err := tooManyDeltas(s, st.tokens); err != nil {
		return err
	}
	if r.leaveAfter > 0 && s.Deltas >= r.leaveAfter {
		giveUp(errLeft)
		return interrupted(ctx, r.options, sample.Truncated, io.ErrUnexpectedEOF)
	}
	return nil
}

// addEvent parses an event and adds its contents to the sample. It ignores events after a fault, and events
// after the end marker unless they report an error. It reports whether the event is a sign of life; see
// idleTimer.
func (r *reader) addEvent(st *stream, s *sample.Sample, e *sse.Event) (alive bool) {
	r.closeBatch()
	at, lag := r.src.Data.On(r.clock)
	if r.src.Data.Stamp == 0 {
		s.Clock = sample.UserClock
	}
	s.Events++
	r.size.addEvent(e)
	if st.fault != nil {
		return false
	}
	d := &r.delta
	err := r.parse(s, *e)
	if d.Strange != "" {
		st.strange = d.Strange
	}
	switch {
	case d.Fault != "":
		st.fault = r.fault(s)
		return false
	case st.done:
		return false
	case errors.Is(err, dialect.ErrTruncated):
		st.fault = failure{sample.Truncated, err}
		return false
	case err != nil:
		st.fault = failure{sample.Malformed, err}
		return false
	}
	st.done = d.Done
	alive = r.alive(st, s, d, e)
	addEventInstants(s, d, at, lag)
	r.size.add(d)
	if d.Finish != "" || d.UnknownFinish {
		s.Finish, s.UnknownFinish = d.Finish, d.UnknownFinish
	}
	if s.UnreadLast = d.Unread != "" || s.UnreadLast && d.Chunks == 0; s.Unread == "" {
		s.Unread = d.Unread
	}
	if d.Usage.OutputTokens != 0 {
		r.usage.add(d, s.Deltas > 0)
	}
	// Some servers report zeros before or after the true counts.
	setStated(&st.usage.PromptTokens, d.Usage.PromptTokens)
	setStated(&st.usage.OutputTokens, d.Usage.OutputTokens)
	addCached(&st.usage, d)
	setStated(&st.usage.ReasoningTokens, d.Usage.ReasoningTokens)
	st.tokens += d.Tokens
	r.addTokens(d)
	if d.Timings != (dialect.Timings{}) {
		s.Server = sample.ServerTimings(d.Timings)
	}
	if d.Chunks > 0 {
		r.addDeltas(s, d, at, lag)
	}
	r.addText(s)
	return alive
}

// addDeltas adds the deltas of an event, which has at least one, to the sample.
func (r *reader) addDeltas(s *sample.Sample, d *dialect.Delta, at, lag time.Duration) {
	if !r.seen && (visible(d.Text) || visible(d.Reasoning) || visible(d.ToolCall)) {
		r.seen, s.Blank = true, s.Deltas
	}
	for range d.Chunks { // nearly always one
		r.arrivals.Add(r.src.Data)
		s.Deltas++
	}
	r.addToBatch(d.Chunks)
	if r.cut(at) {
		s.Cut++
	}
	if len(d.Text) == 0 && len(d.ToolCall) == 0 {
		return
	}
	if !r.outputSeen {
		r.outputSeen = visible(d.Text) || visible(d.ToolCall)
		reasoned := s.Deltas-d.Chunks > s.Outputs
		if s.Outputs == 0 || r.outputSeen && reasoned {
			s.FirstOutput, s.EventLags.FirstOutput = at, lag
		}
	}
	s.Outputs += d.Chunks
}

// alive reports whether an event is a sign of life: that the server generates output, processes the prompt or
// ends the answer. An event without all of this, such as a delta with an empty text, says only that the
// connection is open. Until the first output, a ping counts, too, as a comment does. alive must be called before the
// event's finish reason is in the sample.
func (r *reader) alive(st *stream, s *sample.Sample, d *dialect.Delta, e *sse.Event) bool {
	if d.Chunks > 0 || d.Tokens > 0 || len(d.ToolName) > 0 {
		r.queued = nil
		return true
	}
	return d.Usage.OutputTokens > st.usage.OutputTokens || d.Progress || d.Finish != "" && s.Finish == "" || d.Done || r.queued != nil && string(e.Type) == "ping"
}

// comment receives a comment of a stream. A line that lost the word data is a comment, too: it has an object with a part
// of the answer.
func (r *reader) comment(text []byte) {
	if r.queued != nil {
		r.queued.sign(r.src.Data.User)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return
	}
	conn.Apart(func() {
		var d dialect.Delta
		err := r.server.Dialect.NewParser().Event(sse.Event{Type: []byte("message"), Data: text}, &d)
		if err == nil && (d.Chunks > 0 || d.Finish != "") {
			r.lost = string(text[:min(len(text), maxQuoted+r.server.Secrets.Longest())])
		}
	})
}

// addTokens adds the tokens of an event's deltas, if the server has reported tokens for all deltas so far.
// Tokens of an event without text, such as a part of a character, belong to the next delta.
func (r *reader) addTokens(d *dialect.Delta) {
	r.early += d.Tokens
	if d.Chunks == 0 || d.Tokens == 0 && len(r.tokens) == 0 {
		return
	}
	for left := d.Chunks; left > 0; left-- {
		n := r.early / left
		r.tokens = append(r.tokens, int32(n))
		r.early -= n
	}
}

// parsedApart is the maximum number of events of a stream that are parsed in a separate goroutine. A stream
// with more such events needs a large stack anyway.
const parsedApart = 8

// parse parses an event into r.delta. If an event differs from the one before only in its text, parsing
// needs little stack. Other events are parsed with conn.Apart; most streams have few of them.
func (r *reader) parse(s *sample.Sample, e sse.Event) error {
	if q, ok := r.parser.(dialect.Knower); ok && q.Known(e, &r.delta) {
		return nil
	}
	if r.parsed == parsedApart {
		return r.parser.Event(e, &r.delta)
	}
	r.parsed++
	return r.parseApart(s, e)
}

// parseApart also checks that the event belongs to the answer of s. All events of an answer have the same ID.
func (r *reader) parseApart(s *sample.Sample, e sse.Event) (err error) {
	conn.Apart(func() {
		if err = r.parser.Event(e, &r.delta); err == nil {
			err = r.checkIdentity(s, e.Data)
		}
	})
	return err
}

// cut reports whether the last event came in two parts: the second part arrived after the client had read
// the first part, and sample.BurstPause or more after the first part arrived. The event was complete at the
// instant at.
func (r *reader) cut(at time.Duration) bool {
	if r.part.Stamp == 0 || r.src.Data.Stamp == 0 || r.part == r.src.Data {
		return false
	}
	first, _ := r.part.On(r.clock)
	return at > r.part.User && at-first >= sample.BurstPause
}

// setStated sets count to the number that the server reported, unless it is 0.
func setStated(count *int, stated int) {
	if stated != 0 {
		*count = stated
	}
}

// addCached adds what an event states about cached tokens. A later statement replaces an earlier one. A 0 counts
// only beside a prompt that has tokens.
func addCached(u *dialect.Usage, d *dialect.Delta) {
	if d.Usage.CachedStated && (d.Usage.PromptTokens > 0 || d.Timings.PromptTokens+d.Timings.CachedTokens > 0) {
		u.CachedTokens, u.CachedStated = d.Usage.CachedTokens, true
	}
	setStated(&u.CachedTokens, d.Usage.CachedTokens)
}

// addEventInstants adds the instants of an event from which other tools compute their metrics. It must be
// called before the event's deltas are counted.
func addEventInstants(s *sample.Sample, d *dialect.Delta, at, lag time.Duration) {
	if d.Done && s.Done == 0 {
		s.Done, s.EventLags.Done = at, lag
	}
	if !d.Done || d.Choices > 0 {
		s.LastEvent, s.EventLags.LastEvent = at, lag
	}
	c := &s.Choices
	if d.Choices > 0 {
		if c.First == 0 {
			c.First, s.EventLags.ChoiceFirst = at, lag
		}
		c.Last, s.EventLags.ChoiceLast = at, lag
	} else if d.Usage.OutputTokens > 0 {
		s.UsageAlone = true
	}
	if d.Chunks > 0 {
		c.Amid, c.After = c.Amid+c.After, 0
	}
	switch n := max(0, d.Choices-d.Chunks); {
	case s.Deltas+d.Chunks == 0:
		c.Before += n
	default:
		c.After += n
	}
}

// A batch holds the deltas that came in one batch of a [conn.Reader], which is bytes with the same
// timestamp.
type batch struct {
	number        uint32 // number of the reader's batch
	first, deltas int    // index of the first delta, and number of deltas
	merged        int    // number of deltas, from the first on, that are in reader.merged
}

// addToBatch adds the last n deltas to the batch in which they came.
func (r *reader) addToBatch(n int) {
	if b := &r.batch; b.deltas == 0 || b.number != r.src.Batch {
		*b = batch{number: r.src.Batch, first: r.arrivals.Len() - n}
	}
	r.batch.deltas += n
	if r.events.Buffered() > 0 || r.src.Follows() {
		r.closeBatch()
	}
}

// closeBatch marks the deltas of a batch as merged if the batch consists of several segments. The caller
// has found out that something came after these deltas in the same batch. closeBatch does nothing if the
// last bytes belong to another batch.
func (r *reader) closeBatch() {
	b := &r.batch
	if b.merged == b.deltas || b.number != r.src.Batch || !r.src.Merged() {
		return
	}
	m := sample.Merged{Delta: b.first, Deltas: b.deltas, Since: r.src.Since}
	if b.merged == 0 {
		r.merged = append(r.merged, m)
	} else {
		r.merged[len(r.merged)-1] = m
	}
	b.merged = b.deltas
}

// stateDeltaTokens returns counts in the form of [sample.Sample].DeltaTokens. The argument counts has the number
// of tokens that a server reported with each of n deltas. stateDeltaTokens returns nil if no delta has
// several tokens, or if the server reported tokens for less than nine tenths of the deltas. The result is a
// new slice.
func stateDeltaTokens(counts []int32, n int) []int32 {
	none, several := 0, false
	for _, c := range counts {
		if c == 0 {
			none++
		}
		several = several || c > 1
	}
	if len(counts) != n || !several || none > n/10 {
		return nil
	}
	return slices.Clone(counts)
}
