package frame

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// BeginException begins the message of an exception. Documents must be messages.
func (f *Framer) BeginException(name string) {
	f.Begin(name)
	f.exception = true
}

// Binary reports whether documents are messages. Such a document cannot be sent before its end is
// known, because its length and a checksum come first.
func (f *Framer) Binary() bool { return f.binary }

const (
	preludeSize  = 12 // the length of the message, the length of the headers, and a checksum of both
	sumSize      = 4  // the checksum of the message
	stringHeader = 7  // the type of a header whose value is a string
)

// wrap replaces the current document by the message that has the document as its payload.
// https://smithy.io/2.0/aws/amazon-eventstream.html
func (f *Framer) wrap() {
	start, kind, typeHeader, name := f.docStart, "event", ":event-type", f.name
	f.scratch = append(f.scratch[:0], f.Buf[start:]...)
	switch {
	case f.exception:
		kind, typeHeader = "exception", ":exception-type"
	case f.chunks:
		name = "chunk"
		f.Buf = base64.StdEncoding.AppendEncode(append(f.Buf[:start], `{"bytes":"`...), f.scratch)
		f.Add(`","p":"abcdefgh"}`)
		f.scratch = append(f.scratch[:0], f.Buf[start:]...)
	}
	f.Buf = append(f.Buf[:start], make([]byte, preludeSize)...)
	f.header(typeHeader, name)
	f.header(":content-type", "application/json")
	f.header(":message-type", kind)
	headers := len(f.Buf) - start - preludeSize
	f.Buf = append(f.Buf, f.scratch...)
	m := f.Buf[start:]
	binary.BigEndian.PutUint32(m, uint32(len(m)+sumSize))
	binary.BigEndian.PutUint32(m[4:], uint32(headers))
	binary.BigEndian.PutUint32(m[8:], crc32.ChecksumIEEE(m[:8]))
	f.Buf = binary.BigEndian.AppendUint32(f.Buf, crc32.ChecksumIEEE(m))
}

// header renders a header of a message. Its name and its value must be short.
func (f *Framer) header(name, value string) {
	f.Buf = append(f.Buf, byte(len(name)))
	f.Add(name)
	f.Buf = append(f.Buf, stringHeader)
	f.Buf = binary.BigEndian.AppendUint16(f.Buf, uint16(len(value)))
	f.Add(value)
}
