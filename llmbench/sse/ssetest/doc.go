// Package ssetest tests parsers of Server-Sent Events (text/event-stream). It plays
// the role that testing/fstest plays for file systems.
//
// The package knows no parser. The caller supplies the parser under test as a
// function, [Decode]. Such a function has about ten lines, whether the parser
// returns events, calls back, or runs a goroutine:
//
//	func decode(body io.Reader, emit func(ssetest.Event)) error {
//		d := sse.NewDecoder(body)
//		for {
//			e, err := d.Next()
//			if err != nil {
//				return err // io.EOF counts as a clean end
//			}
//			emit(ssetest.Event{Type: string(e.Type), Data: string(e.Data), ID: string(e.ID), Unterminated: e.Unterminated})
//		}
//	}
//
//	var options = ssetest.Options{NoRetry: true, EOF: ssetest.Mark}
//
//	func TestConformance(t *testing.T) { ssetest.TestDecoder(t, decode, options) }
//	func FuzzConformance(f *testing.F) { ssetest.Fuzz(f, decode, options) }
//
// [TestDecoder] checks that the parser follows the algorithm of the HTML standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
// A case is a body and the events in it. Each body is read whole, one byte per
// Read, cut after each CR and each LF, and cut at every offset, or at seeded random
// offsets if the body is long. Each reading checks four things:
//
//   - The events are right.
//   - The parser returns each event before it reads more than the bytes that
//     complete the event.
//   - The parser ends, and with an error exactly if the body failed.
//   - The parser leaves no goroutine behind.
//
// [Check] does the same without a testing.T.
//
// [Fuzz] builds bodies from fuzz input and compares the parser with a slow decoder
// that was written from the text of the standard and shares no code with any
// parser.
//
// # Known gaps
//
// A decoder that is wrong about one rule is wrong in many cases. TestDecoder shows the first wrong
// case of each class, counts the others, and prints the [Options.Gaps] that declare what is wrong:
//
//	var options = ssetest.Options{NoRetry: true, Gaps: []string{"bom", "fields/no-space"}}
//
// With gaps TestDecoder skips these cases, until a gap is closed: then it fails until the gap is
// removed from the options. Fuzz changes each body so that the rules of these classes do not
// matter, and looks for whatever else is wrong. It cannot avoid the rules of the classes "errors" and
// "llm", and has no bodies for "errors" and "memory".
//
// The folder peers, a module of its own, holds the results for public Go parsers
// and shows how parsers of other shapes are adapted.
//
// # What the package refuses to check
//
// [Options] declare what a parser does not offer; those points are reported as not
// checked. The package does not check what the standard leaves open: size limits
// that the parser declares, and the replacement of invalid UTF-8, which a parser
// may also return unchanged. The package does not check HTTP: neither status nor
// content type nor reconnection.
package ssetest
