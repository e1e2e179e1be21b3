package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect/internal/jsonwalk"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// walkers holds walkers that are not in use. A parser needs none while it waits for the next event.
var walkers = sync.Pool{New: func() any { return jsonwalk.New() }}

var (
	doneMarker   = []byte("[DONE]")
	messageEvent = []byte("message")
	pingEvent    = []byte("ping")
	errorEvent   = []byte("error")
)

func (p *baseParser) Event(e sse.Event, d *Delta) error {
	d.reset()
	p.wholeBody = false
	payload, done := e.Data, false
	if n := len(payload); n == 0 || payload[n-1] != '}' { // there is more than a document
		payload = bytes.TrimSpace(payload)
		if bytes.HasSuffix(payload, doneMarker) { // [DONE] alone, or after the last document
			d.Done, done = true, true
			payload = bytes.TrimSpace(payload[:len(payload)-len(doneMarker)])
		}
	}
	isErrorEvent := bytes.Equal(e.Type, errorEvent)
	if len(payload) == 0 && !isErrorEvent || bytes.Equal(e.Type, pingEvent) {
		p.doneSeen = p.doneSeen || done
		return nil
	}
	err := p.documents(payload, d)
	p.doneSeen = p.doneSeen || done
	if isErrorEvent { // the event type is enough to make this an error
		d.Fault = cmp.Or(d.Fault, faultMessage(payload), "an error event without data")
		d.FaultStatus = cmp.Or(d.FaultStatus, faultStatus(payload))
		return nil
	}
	if err != nil && e.Unterminated {
		return fmt.Errorf("%s: %w within an event: %q", p.dialect, ErrTruncated, excerpt(payload))
	}
	if err != nil {
		return fmt.Errorf("%s: malformed event: %w: %q", p.dialect, err, excerpt(payload))
	}
	return nil
}

func (p *baseParser) Body(body []byte, d *Delta) error {
	d.reset()
	p.wholeBody = true
	if err := p.documents(body, d); err != nil {
		return fmt.Errorf("%s: malformed body: %w: %q", p.dialect, err, excerpt(body))
	}
	if d.Fault == "" && !p.finished && (p.finishPending || p.needsReason) {
		d.UnknownFinish = true
	}
	return nil
}

func (p *baseParser) End() error {
	switch {
	case p.finished || p.doneSeen && !p.finishPending && !p.strangeSeen:
		return nil
	case p.reopened:
		return fmt.Errorf("%s: %w: text came after the finish reason, and no finish reason after the text", p.dialect, ErrTruncated)
	case p.doneSeen && p.finishPending:
		return fmt.Errorf("%s: %w: [DONE] came before the finish reason", p.dialect, ErrTruncated)
	case p.doneSeen:
		return fmt.Errorf("%s: %w: [DONE] came, but no finish reason, and an event was not understood", p.dialect, ErrTruncated)
	}
	return fmt.Errorf("%s: %w: neither a finish reason nor %s", p.dialect, ErrTruncated, p.endMarker)
}

// reasonSeen returns an error unless the server reported why generation ended. name is the dialect's name for
// that. reasonSeen is the End of dialects without an end marker.
func (p *baseParser) reasonSeen(name string) error {
	switch {
	case p.finished:
		return nil
	case p.reopened:
		return fmt.Errorf("%s: %w: text came after the %s, and no %s after the text", p.dialect, ErrTruncated, name, name)
	}
	return fmt.Errorf("%s: %w: no %s", p.dialect, ErrTruncated, name)
}

// documents parses text into d. The text is usually one JSON document, but some gateways send several in a
// row. If a document is malformed, its generated text is dropped.
func (p *baseParser) documents(text []byte, d *Delta) error {
	p.d, p.w, p.input = d, walkers.Get().(*jsonwalk.Walker), text
	defer walkers.Put(p.w)
	p.beginDocument(0)
	err := p.w.Objects(text, p.readMember, p.endDocument)
	p.input = nil
	p.onlyText.from, p.onlyText.to = p.w.OnlyText()
	if err != nil {
		d.rewind(p.start)
	}
	return err
}

// beginDocument prepares for the document that begins at input[from].
func (p *baseParser) beginDocument(from int) {
	p.start, p.from = p.d.mark(), from
	p.endsHere, p.noReason, p.members, p.others = false, false, 0, 0
	p.isError, p.errorLike, p.errorText, p.errorCode, p.timingsJSON = false, false, p.errorText[:0], 0, p.timingsJSON[:0]
	p.unknown = p.unknown[:0]
	p.steps.begin()
}

// readMember reads a top-level member.
func (p *baseParser) readMember(name []byte) {
	p.members++
	p.steps.member(name)
}

// endDocument finishes the current document and begins the next.
func (p *baseParser) endDocument() {
	p.steps.end()
	if len(p.timingsJSON) > 0 && (p.finished || p.wholeBody) {
		outer := p.w
		p.w = walkers.Get().(*jsonwalk.Walker)
		p.w.Objects(p.timingsJSON, p.timingsMember, func() {}) // no error: the document around it was valid
		walkers.Put(p.w)
		p.w = outer
	}
	to := p.w.Offset()
	document := p.input[min(p.from, to):to]
	understood := p.others < p.members // a member is part of an answer
	if (p.isError || p.errorLike && !understood) && p.d.Fault == "" {
		p.d.Fault = cmp.Or(excerpt(p.errorText), excerpt(bytes.TrimSpace(document)), "an error without a message")
	}
	if p.d.Fault != "" {
		p.d.FaultStatus = cmp.Or(p.d.FaultStatus, p.errorCode)
	}
	generated := p.d.generatedSince(p.start)
	p.tellUnknown(document, understood, generated)
	if generated {
		p.d.Chunks++
		p.textSeen = true
		p.reopen()
	}
	p.beginDocument(to)
}

// reopen handles a document with text. If the finish reason came in an earlier document, the answer goes on, and
// needs another finish reason. Text after the end marker does not belong to the answer.
func (p *baseParser) reopen() {
	if p.finished && !p.endsHere && !p.doneSeen {
		p.finished, p.finishPending, p.reopened = false, true, true
		p.d.Finish, p.d.UnknownFinish = "", false
	}
}
