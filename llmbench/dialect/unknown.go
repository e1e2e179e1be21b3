package dialect

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// unknownMember reads a member that the dialect does not know, in a part of the answer where other members have
// text. The argument in says where the member is, such as "delta.". The member may be an error, or may have text
// that is not read. Then the instants of the deltas mean nothing.
func (p *baseParser) unknownMember(in string, name []byte) {
	if string(name) == "error" {
		p.errorMember()
		return
	}
	p.keepUnknown(in, name, false)
}

// keepUnknown reads the value of an unknown member, and keeps the member's name if the value may have text.
func (p *baseParser) keepUnknown(in string, name []byte, top bool) {
	if len(p.unknown) > 0 {
		return
	}
	p.unknown, p.unknownInTop = append(append(p.unknown, in...), name...), top
	if !p.w.Filled() { // the name was kept first, because it is not valid after the value has been read
		p.unknown = p.unknown[:0]
	}
}

// tellUnknown tells the caller about an unknown member of a document, and about a document of which nothing was
// understood. A member beside text that was read has the instant of that text. A member that comes with the
// finish reason or after it, such as a list of sources, delays no text.
func (p *baseParser) tellUnknown(document []byte, understood, generated bool) {
	if len(p.unknown) == 0 || p.d.Fault != "" {
		return
	}
	if !understood {
		p.d.Strange, p.strangeSeen = excerpt(bytes.TrimSpace(document)), true
	}
	if generated || p.finished && p.textSeen || p.unknownInTop && understood && !p.flat {
		return
	}
	if p.d.Unread != "" {
		return
	}
	p.d.Unread = excerpt(p.unknown)
	if strings.ContainsFunc(p.d.Unread, unicode.IsControl) { // so that a name remains in its line
		p.d.Unread = strconv.Quote(p.d.Unread)
	}
}
