package human

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct {
		unit string
		v    float64
		want string
	}{
		{"p50-ttft-ns", 851935540, "852 ms"},
		{"p50-ttft-ns", 0.0014996270000000001, "0.0015 ns"},
		{"mean-tpot-ns", 5123292, "5.12 ms"},
		{"p99-read-lag-ns", 1234, "1.23 µs"},
		{"run-ns", 404284000000, "404 s"},
		{"p99-ttft-ns", -2500000, "-2.5 ms"},
		{"p99-ttft-ns", 0, "0 ns"},
		{"output-tok/s", 1989.159, "1990 tok/s"},
		{"steady-output-tok/s", 82.64, "82.6 tok/s"},
		{"good-req/s", 0.6456, "0.646 req/s"},
		{"out-tok/req", 128, "128 tok/req"},
		{"client-err-%", 0.02494, "0.0249 %"},
		{"fail-%", 0, "0 %"},
		{"knee-concurrency", 16, "16"},
	} {
		if got := Text(c.unit, c.v); got != c.want {
			t.Errorf("Text(%q, %v) = %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

// TestCapital checks texts whose first character is not an ASCII letter, and texts that begin with a unit.
func TestCapital(t *testing.T) {
	for text, want := range map[string]string{
		"p99-itl-ns is withheld": "p99-itl-ns is withheld", "p50-ttft-ns, mean-tpot-ns: both": "p50-ttft-ns, mean-tpot-ns: both",
		"output-tok/s of a": "output-tok/s of a", "fail-% is 3": "fail-% is 3", "knee-concurrency is 8": "knee-concurrency is 8", "added-ttft-ms is 3": "added-ttft-ms is 3",
		"client-bound": "Client-bound", "answers": "Answers",
		"": "", "the log": "The log", "über": "Über", "\xffa": "\xffa", "5 of": "5 of"} {
		if got := Capital(text); got != want {
			t.Errorf("Capital(%q) = %q, want %q", text, got, want)
		}
	}
}
