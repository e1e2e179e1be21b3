// Package ssetest tests parsers of Server-Sent Events (text/event-stream). It plays
// the role that testing/fstest plays for file systems.
//
// The package contains no parser. The caller supplies the parser under test as a function of the type
// [Decode]. Such a function has about ten lines, whether the parser returns events, calls back, or runs a
// goroutine:
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
// A case is a body and the events in it. Each body is read in several ways: whole, one byte per Read, cut
// after each CR and each LF, and cut at every offset (at seeded random offsets if the body is long). For
// each way, four things are checked:
//
//   - The events are correct.
//   - The parser returns each event before it reads bytes beyond the event.
//   - The parser ends. It returns an error if and only if the body failed.
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
// A parser that breaks one rule usually fails in many cases. TestDecoder shows the first failed case of
// each class and counts the others. If a case fails only because of what belongs to another broken class, such as a bare
// CR, TestDecoder counts the case with that class and does not show it. At the end TestDecoder lists the broken classes,
// first the classes that break streams as servers of language models send them. It also prints the options that declare what the
// parser seems to lack, such as reconnection times or events of any size, and the [Options.Gaps] that declare the failures:
//
//	var options = ssetest.Options{NoRetry: true, Gaps: []string{"bom", "fields/no-space"}}
//
// A gap is a rule, or a class of rules, that the parser is known to break. TestDecoder skips failed cases
// that a gap declares, and cases of other classes that fail for the same reason as a declared class. If such cases no longer fail, TestDecoder fails until the gap is removed from the
// options. Fuzz changes each body so that it does not depend on the rules of these classes, and looks for
// other errors. It cannot avoid the rules of the classes "errors" and "llm", and has no bodies for the
// classes "errors" and "memory".
//
// # Fuzzing
//
//	go test -run='^$' -fuzz=FuzzConformance -fuzztime=1m
//
// Fuzz sets -fuzzminimizetime to 10x unless it is given. With Go's default the engine would stand still for many seconds
// (0 execs/sec), because it makes each input smaller that reaches new code.
//
// The folder peers, a module of its own, holds the results for public Go parsers
// and shows how parsers of other shapes are adapted.
//
// # What the package refuses to check
//
// [Options] declare which features a parser does not have. These features are reported as not checked. The
// package does not check what the standard leaves open: size limits that the parser declares, and the
// replacement of invalid UTF-8, which a parser may also return unchanged. The package does not check HTTP:
// neither status nor content type nor reconnection.
package ssetest
