package ssetest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// A flawed decoder follows the standard except for the flaws that are set.
type flawed struct {
	keepsBOM, lfOnly, crOnlyAsCRLF, noCR, trims, lastDataOnly, endLFKept, emptyIsNone, dataless,
	lateOnCR, flushes, swallows, foldsCase, keepsType, forgetsID, nulID, idNeedsData, badRetry, splitUTF8,
	panics, pendingAfterError, waitsForNext bool
	limit int
}

func (f flawed) decode(body io.Reader, emit func(Event)) error {
	var (
		line, data    []byte
		hasData       bool
		typ, id, last string
		retry         time.Duration
		held          *Event
		first         = true
		lastCR        bool
	)
	send := func(e Event) {
		if f.waitsForNext {
			if held != nil {
				emit(*held)
			}
			held = &e
			return
		}
		emit(e)
	}
	dispatch := func() {
		if !f.idNeedsData || hasData {
			last = id
		}
		if hasData && !(f.emptyIsNone && len(data) <= 1) || f.dataless && typ != "" {
			if !f.endLFKept {
				data = bytes.TrimSuffix(data, []byte("\n"))
			}
			if f.trims {
				data = bytes.TrimSpace(data)
			}
			send(Event{Type: typ, Data: string(data), ID: last, Retry: retry})
		}
		data, hasData = nil, false
		if !f.keepsType {
			typ = ""
		}
		if f.forgetsID {
			id = ""
		}
	}
	endLine := func() {
		if first && !f.keepsBOM {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		first = false
		if f.lfOnly || f.crOnlyAsCRLF {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if len(line) == 0 {
			dispatch()
			return
		}
		name, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		if f.foldsCase {
			name = strings.ToLower(name)
		}
		if f.panics && name == "" && value == "" {
			panic("no comment")
		}
		switch name {
		case "data":
			if f.lastDataOnly {
				data = nil
			}
			hasData = true
			data = append(append(data, value...), '\n')
		case "event":
			typ = value
		case "id":
			if f.nulID || !strings.Contains(value, "\x00") {
				id = value
			}
		case "retry":
			n := time.Duration(0)
			for _, c := range value {
				if c < '0' || c > '9' {
					if f.badRetry {
						break
					}
					n = -1
					break
				}
				n = min(n*10+time.Duration(c-'0'), 1<<40)
			}
			if n >= 0 && (value != "" || f.badRetry) {
				retry = n * time.Millisecond
			}
		}
		line = line[:0]
	}
	step := func(c byte) {
		if f.splitUTF8 && c >= 0x80 {
			line = append(line, "\ufffd"...)
			return
		}
		if f.lateOnCR && lastCR && c != '\n' {
			endLine()
		}
		switch {
		case c == '\n' && lastCR && !f.lfOnly && !f.crOnlyAsCRLF && !f.lateOnCR:
		case c == '\n':
			endLine()
		case c == '\r' && f.lateOnCR, c == '\r' && f.noCR:
		case c == '\r' && !f.lfOnly && !f.crOnlyAsCRLF:
			endLine()
		default:
			line = append(line, c)
		}
		lastCR = c == '\r'
	}
	buf := make([]byte, 4096)
	for {
		n, err := body.Read(buf)
		for _, c := range buf[:n] {
			step(c)
			if f.limit > 0 && len(line)+len(data) > f.limit {
				return errors.New("too large")
			}
		}
		if err == nil {
			continue
		}
		if f.lateOnCR && lastCR {
			endLine()
		}
		if f.flushes && err == io.EOF || f.pendingAfterError && err != io.EOF {
			if len(line) > 0 {
				endLine()
			}
			dispatch()
		}
		if held != nil {
			emit(*held)
		}
		if f.swallows {
			return nil
		}
		return err
	}
}

// TestKitAccepts checks that the decoder passes without flaws, and with flaws that the options declare.
func TestKitAccepts(t *testing.T) {
	for _, c := range []struct {
		name string
		f    flawed
		o    Options
	}{
		{"no flaw", flawed{}, Options{}},
		{"declared flush, limit and lateness", flawed{flushes: true, limit: 3 << 20, waitsForNext: true}, Options{EOF: Flush, MaxEventSize: 3 << 20, NoPrompt: true}},
		{"declared lack of types, IDs and retry", flawed{keepsType: true, forgetsID: true, badRetry: true}, Options{NoType: true, NoID: true, NoRetry: true}},
	} {
		t.Run(c.name, func(t *testing.T) { TestDecoder(t, c.f.decode, c.o) })
	}
}

// broken are decoders that the package must reject, each in at least the named case.
var broken = []struct {
	name    string
	decode  Decode
	o       Options
	rejects string // class/name
	message string // part of the error
	late    bool   // the error is Result.Late, not Result.Err
	noFuzz  bool   // fuzzing cannot detect the flaw
}{
	{name: "keeps the byte order mark", decode: flawed{keepsBOM: true}.decode, rejects: "bom/leading", message: `event 0 is {Data: "b"}: want {Data: "a"}`},
	{name: "ends lines with LF only", decode: flawed{lfOnly: true}.decode, rejects: "lines/cr", message: `event 0 is missing: want {Data: "a\nb"}`},
	{name: "ends lines with LF and CRLF only", decode: flawed{crOnlyAsCRLF: true}.decode, rejects: "lines/crcr-is-blank", message: "missing"},
	{name: "drops CR", decode: flawed{noCR: true}.decode, rejects: "lines/mixed-in-event", message: "event 0"},
	{name: "trims spaces", decode: flawed{trims: true}.decode, rejects: "fields/trailing-spaces", message: `event 0 is {Data: "a  \n\tb"}`},
	{name: "drops all but the last data line", decode: flawed{lastDataOnly: true}.decode, rejects: "dispatch/data-lines", message: `event 0 is {Data: "c"}: want {Data: "a\nb\nc"}`},
	{name: "keeps the last LF", decode: flawed{endLFKept: true}.decode, rejects: "dispatch/one", message: `event 0 is {Data: "a\n"}`},
	{name: "drops events of empty data", decode: flawed{emptyIsNone: true}.decode, rejects: "dispatch/data-empty", message: "missing"},
	{name: "makes events without data", decode: flawed{dataless: true}.decode, rejects: "event/only", message: "should not exist"},
	{name: "is late on CR", decode: flawed{lateOnCR: true}.decode, rejects: "lines/cr", message: "was emitted only after the parser had read more", late: true},
	{name: "is an event late", decode: flawed{waitsForNext: true}.decode, rejects: "dispatch/several", message: "event 2, {Data: \"c\"}, is complete after 27 bytes", late: true},
	{name: "flushes silently at the end", decode: flawed{flushes: true}.decode, rejects: "eof/no-blank-line", message: `event 1 should not exist: {Data: "b"}`},
	{name: "flushes without the mark", decode: flawed{flushes: true}.decode, o: Options{EOF: Mark}, rejects: "eof/in-value", message: "Unterminated: true"},
	{name: "does not flush", decode: flawed{}.decode, o: Options{EOF: Flush}, rejects: "eof/in-value", message: "missing"},
	{name: "flushes after a failure", decode: flawed{pendingAfterError: true}.decode, rejects: "errors/before-blank-line", message: "should not exist", noFuzz: true},
	{name: "swallows read errors", decode: flawed{swallows: true}.decode, rejects: "errors/after-event", message: "the parser ended without an error", noFuzz: true},
	{name: "folds names", decode: flawed{foldsCase: true}.decode, rejects: "fields/case", message: "event 0"},
	{name: "keeps the type", decode: flawed{keepsType: true}.decode, rejects: "event/does-not-persist", message: `Type: "x"`},
	{name: "forgets the ID", decode: flawed{forgetsID: true}.decode, rejects: "id/persists", message: "want"},
	{name: "takes an ID with NUL", decode: flawed{nulID: true}.decode, rejects: "id/nul", message: `ID: "\x00"`},
	{name: "takes no ID without data", decode: flawed{idNeedsData: true, forgetsID: true}.decode, rejects: "id/without-data", message: "event 0"},
	{name: "takes any retry", decode: flawed{badRetry: true}.decode, rejects: "retry/empty", message: "want"},
	{name: "decodes UTF-8 by the byte", decode: flawed{splitUTF8: true}.decode, rejects: "utf8/sequences", message: "event 0"},
	{name: "panics", decode: flawed{panics: true}.decode, rejects: "comments/empty", message: "panic: no comment"},
	{name: "limits events to 64 KiB", decode: flawed{limit: 64 << 10}.decode, rejects: "limits/line-64K+1", message: "too large"},
	{name: "has no limit", decode: flawed{}.decode, o: Options{MaxEventSize: 1 << 20}, rejects: "memory/endless-line", message: "8 times MaxEventSize"},
	{name: "limits data lines alone", decode: scanner(1 << 20), o: Options{MaxEventSize: 1 << 20}, rejects: "memory/endless-event", message: "8 times MaxEventSize", noFuzz: true},
	{name: "has bufio.Scanner's limit", decode: scanner(bufio.MaxScanTokenSize), rejects: "limits/line-64K+1", message: "token too long"},
	{name: "ignores bufio.Scanner's error", decode: func(body io.Reader, emit func(Event)) error {
		scanner(bufio.MaxScanTokenSize)(body, emit)
		return nil
	}, rejects: "limits/line-64K+1", message: "missing"},
	{name: "leaves a goroutine", decode: func(body io.Reader, emit func(Event)) error {
		go func() { select {} }()
		return flawed{}.decode(body, emit)
	}, rejects: "dispatch/one", message: "leaves goroutines behind", noFuzz: true},
	{name: "hangs on an empty body", decode: func(body io.Reader, emit func(Event)) error {
		all, err := io.ReadAll(body)
		for err == nil && len(all) == 0 {
			time.Sleep(time.Hour)
		}
		return flawed{}.decode(io.MultiReader(bytes.NewReader(all), failing{err}), emit)
	}, o: Options{Timeout: 100 * time.Millisecond, NoPrompt: true}, rejects: "eof/empty-body", message: "hung: no end after 100ms"},
	{name: "decodes each read separately", decode: func(body io.Reader, emit func(Event)) error {
		buf := make([]byte, 1<<20)
		for {
			n, err := body.Read(buf)
			flawed{}.decode(bytes.NewReader(buf[:n]), emit)
			if err != nil {
				return err
			}
		}
	}, rejects: "dispatch/one", message: "cut"},
}

// scanner returns a decoder that uses a bufio.Scanner with lines of up to limit bytes.
func scanner(limit int) Decode {
	return func(body io.Reader, emit func(Event)) error {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, limit)
		var d []string
		for lines.Scan() {
			if lines.Text() == "" && d != nil {
				emit(Event{Data: strings.Join(d, "\n")})
				d = nil
			} else if v, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
				d = append(d, strings.TrimPrefix(v, " "))
			}
		}
		return lines.Err()
	}
}

// failing is an empty reader that ends with err, or io.EOF if err is nil.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func TestKitRejects(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			class, name, _ := strings.Cut(b.rejects, "/")
			k := newKit(b.decode, b.o)
			k.grace = nextGrace
			var r Result
			if class == endlessClass {
				i := slices.IndexFunc(endlessCases, func(c endlessCase) bool { return c.name == name })
				r = k.endless(endlessCases[i])
			} else {
				all := allCases()
				i := slices.IndexFunc(all, func(c testCase) bool { return c.class == class && c.name == name })
				r = k.check(all[i])
			}
			err := r.Err
			if b.late {
				if err != nil {
					t.Errorf("Err = %v; want only Late", err)
				}
				err = r.Late
			}
			if err == nil || !strings.Contains(err.Error(), b.message) {
				t.Errorf("%s: error %v; want one that contains %q", b.rejects, err, b.message)
			}
		})
	}
}

// TestFuzzRejects checks that the seeds of Fuzz and random inputs detect the broken
// decoders.
func TestFuzzRejects(t *testing.T) {
	inputs := seeds()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		code := make([]byte, rng.IntN(60))
		for i := range code {
			code[i] = byte(rng.Uint32())
		}
		inputs = append(inputs, code)
	}
	find := func(d Decode, o Options) error {
		for i, in := range inputs {
			for _, body := range [][]byte{in, bodyOf(in, maxFuzzBody)} {
				if err := checkBody(d, o, body, uint64(i), time.Millisecond); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := find(flawed{}.decode, Options{}); err != nil {
		t.Errorf("a decoder without flaws: %v", err)
	}
	for _, b := range broken {
		if b.noFuzz {
			continue
		}
		o := b.o
		if o.MaxEventSize > 0 {
			o.MaxEventSize = 4 << 10
		}
		if err := find(b.decode, o); err == nil {
			t.Errorf("a decoder that %s was not detected", b.name)
		}
	}
}

// TestGaps checks that fuzzing finds no error in a broken decoder if the options declare all classes in
// which it fails cases. This excludes decoders that fail even with a body of one plain event.
func TestGaps(t *testing.T) {
	find := func(d Decode, o Options, part int) error {
		for i, in := range seeds() {
			if i%5 != part%5 { // all together take long
				continue
			}
			for _, body := range [][]byte{in, bodyOf(in, maxFuzzBody)} {
				if err := checkBody(d, o, avoid(body, o.avoided()), uint64(i), 0); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for part, b := range broken {
		if b.noFuzz || b.o.MaxEventSize > 0 || b.o.Timeout > 0 || b.rejects == "dispatch/one" {
			continue
		}
		o := b.o
		for _, c := range allCases() {
			wrong := c.err == nil && checkBody(b.decode, o, []byte(c.stream), 0, 0) != nil
			if wrong && !slices.Contains(o.Gaps, c.class) {
				o.Gaps = append(o.Gaps, c.class)
			}
		}
		if err := find(b.decode, o, part); err != nil {
			t.Errorf("a decoder that %s, with the gaps %q: %v", b.name, o.Gaps, err)
		}
	}
}

// TestTestDecoderFails runs TestDecoder with a broken decoder in a subprocess.
func TestTestDecoderFails(t *testing.T) {
	const key = "SSETEST_BROKEN"
	if os.Getenv(key) != "" {
		TestDecoder(t, flawed{keepsBOM: true}.decode, Options{})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTestDecoderFails$")
	cmd.Env = append(os.Environ(), key+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("TestDecoder passed a broken decoder:\n%s", out)
	}
	for _, want := range []string{
		"--- FAIL: TestTestDecoderFails/bom/leading",
		"bom/leading: one leading byte order mark is dropped",
		`body "\ufeffdata: a\n\ndata: b\n\n"`,
		`whole: event 0 is {Data: "b"}: want {Data: "a"}`,
		"not checked: memory (no MaxEventSize)",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output does not have %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "FAIL: TestTestDecoderFails/lines") {
		t.Errorf("cases of other classes fail:\n%s", out)
	}
}
