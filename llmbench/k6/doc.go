// Package k6 is the extension k6/x/llmbench of Grafana k6. Scripts send requests to LLM inference servers
// with the client of llmbench, and k6's metrics report the latencies that this client measured.
//
// Programs import the package for its side effect, as cmd/k6 does: it registers the extension with
// [modules.Register]. README.md describes what scripts can use.
//
// The package is in a module of its own because k6 is published under the GNU Affero General Public License
// (https://github.com/grafana/k6/blob/master/LICENSE.md). No other package of llmbench depends on k6.
package k6
