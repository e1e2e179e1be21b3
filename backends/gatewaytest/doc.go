// Package gatewaytest tests gateways: programs between clients and inference servers that pass on, balance, bill or
// translate requests. It plays the role that testing/fstest plays for file systems.
//
// The caller supplies a function that starts the gateway. Everything else comes from the package: simulated servers behind
// the gateway (upstreams) that keep every byte that they wrote, faults of these servers, and a client that keeps every byte
// that it read. A test of a gateway on httputil.ReverseProxy is:
//
//	func TestGateway(t *testing.T) {
//		gatewaytest.Run(t, func(t testing.TB, upstreams []string) string {
//			to, _ := url.Parse(upstreams[0])
//			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
//			gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//				body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20)) // else some answers break: go.dev/issue/40747
//				if err != nil {
//					http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
//					return
//				}
//				r.Body = io.NopCloser(bytes.NewReader(body))
//				proxy.ServeHTTP(w, r)
//			}))
//			t.Cleanup(gateway.Close)
//			return gateway.URL
//		}, gatewaytest.Options{Gaps: []string{"isolation/keys/tenant-key", "failover/*/error-object"}})
//	}
//
// [Run] has a subtest for each class and case. [Check] does the same without a testing.T, and the command
// backends/gatewaytest/cmd/gatewaycheck checks gateways in any language.
//
// # Classes
//
//   - fidelity: an answer comes to the client as the upstream wrote it, and while it is written, however writes divide it.
//   - end: an answer that breaks, stands still or fails is a failure for the client, in the client's API, and never a success
//     with fewer tokens. No request is sent again after the client has had text of the answer.
//   - leaving: the upstream's request ends soon after its client has left.
//   - usage: token counts in the answer, and those that the gateway accounts, are those that the upstream sent.
//   - isolation: many requests of different tenants at once do not see each other, and keys stay where they belong.
//   - translation: what a request says comes to the upstream, also where the upstream has another API: the system's text,
//     messages, images, tools, calls and results, limits and stop sequences. So do the end of an answer by its limit, and the
//     type of an error.
//   - failover: upstreams refuse connections, break streams or are full, and come back.
//   - limits: headers, bodies, events and names without end, and clients that do not read or do not write, neither fill the
//     gateway's memory nor keep it from serving others.
//   - leak: requests leave no memory, goroutines and connections behind. [Options.Measure] tells what the gateway occupies.
//
// # What is compared
//
// What the upstream really wrote is compared with what the client really read. An answer is equal by meaning if it has the
// same status, the same media type, and the same events in the same order: each with the same type, and with the same JSON,
// or the same text where it is not JSON. An event that came out and had not gone in is a finding, whatever it is. A gateway
// may change the following, and nothing else:
//
//   - how bytes are divided into chunks, packets and writes, as long as text is not held back;
//   - white space, the order of members, escapes and the form of numbers (1.0 for 1) in JSON;
//   - line ends, the space after a colon, blank lines, and the fields id and retry of events;
//   - comments, of which it may add and remove any;
//   - header fields, except for those that a case names: Content-Type, Retry-After, fields of one connection, keys;
//   - a body or an event with an error object of its own, where the upstream's answer broke off.
//
// With [Options.Rewrites], and where the gateway asks upstreams in another API than its clients use, only the meaning of the
// whole answer is compared: text, reasoning, names and arguments of tool calls, finish reason and usage. Finish reasons and
// types of errors are equal if the documentation of both APIs gives them the same meaning. A count that the client's API does
// not have is not compared. In requests, the IDs of calls may differ, but each result must belong to its call.
//
// # Findings and gaps
//
// A [Finding] is one sentence that says what the gateway did, the bytes that went in and came out, the options that repeat
// it, and the gap that declares it. [Options.Gaps] declare what a gateway is known to do wrong. A gap that no longer occurs
// fails the test until it is removed.
//
// Every wait has a limit in the options. Whether a gateway holds text back does not depend on how fast the machine is: the
// upstream waits until the client has what was written.
//
// # Under load
//
// With [Options.Streams], each case but those of failover, limits and leak runs a second time while streams run beside it. A finding then has the fewest streams, of
// N, N/2, N/4 and so on, that showed it. In the same way, a finding about one answer has the fewest tokens that showed it. [Fuzz] draws faults, divisions and instants from fuzz input.
//
// # Memory
//
// With [Options.Measure], the kit knows what the gateway occupies. The class limits then also finds a gateway that keeps what
// it has passed on. The class leak sends blocks of requests, and measures after each. The figure is the median slope of all
// pairs of measurements, with an interval that has the true slope with a probability of 99 %. A leak is a finding if the
// whole interval is above 256 bytes a request, or above one goroutine or connection in ten requests, and again in a second
// measurement of twice the length. In this process ([MeasureSelf]), where garbage is collected first, some hundred requests
// are enough, in about a second. The resident memory of another process ([MeasureProcess]) shows a leak of 1 KB a request
// after about ten thousand requests; the report says how small a leak is not noticed.
//
// # What the package refuses to check
//
// It measures no speed: that is what the scenario GatewayOverhead is for. It does not check TLS, HTTP/2, or the
// accuracy of answers. What a gateway does to requests that carry no text, such as lists of models, is not checked.
package gatewaytest
