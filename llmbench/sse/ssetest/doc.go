// Package ssetest tests parsers of Server-Sent Events (text/event-stream), in
// the manner of testing/fstest and testing/slogtest. It knows no parser: the
// one to test is given as a function, [Decode], which takes about ten lines
// whether it is pulled from, pushes, or runs a goroutine.
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
//	func FuzzDecoder(f *testing.F)     { ssetest.Fuzz(f, decode, options) }
//
// [TestDecoder] holds the parser to the algorithm of the HTML standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
// Each case is a body and the events it makes. It is run whole, a byte per
// Read, cut after each CR and each LF, and cut at every offset (a long one: at
// seeded random offsets), and each time four things are checked: the events;
// that each came before the parser asked for more than the bytes that complete
// it; that the parser ended, with an error exactly when the body failed; and
// that it left no goroutine behind. [Check] is the same without a testing.T.
//
// [Fuzz] builds bodies out of fuzz bytes and compares the parser with a slow
// decoder written from the text of the standard, which shares no code with
// any parser.
//
// The folder peers, a module of its own, holds the kit's results on public Go
// parsers, and shows how parsers of other shapes are adapted.
//
// What a parser does not offer is declared in [Options]; it is then reported as
// not checked. What the standard leaves open is not tested: limits that a
// parser sets itself and declares, and the replacement of invalid UTF-8, which
// a parser may also leave as the bytes that came. HTTP is not tested either:
// neither status nor content type nor reconnection.
package ssetest
