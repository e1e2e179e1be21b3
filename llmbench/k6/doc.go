// Package k6 is the extension k6/x/llmbench of Grafana k6: scripts send requests to LLM inference servers
// with the client of llmbench, and k6's metrics have the latencies that this client measured.
//
// Programs import it for its side effect: [modules.Register] adds it to k6, as cmd/k6 does. README.md
// describes what scripts can use.
//
// The module is apart from module llmbench because k6 is published under the GNU Affero General Public
// License (https://github.com/grafana/k6/blob/master/LICENSE.md): no other package of llmbench depends on it.
package k6
