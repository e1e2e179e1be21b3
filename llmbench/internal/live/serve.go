package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// The page with its style and its script. The content security policy has the hashes of the style and of the
// script.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

const (
	writeTimeout = 30 * time.Second // limit for writing a response, or one event of a stream
	pingInterval = 15 * time.Second
	maxFollowers = 64 // the largest number of clients that follow the events at the same time
)

// A Server serves a page that shows the state of a Watcher.
type Server struct {
	watcher   *Watcher
	host      string        // the host to listen on, as the user wrote it
	followers chan struct{} // has an element for each client that follows the events
	reports   chan struct{} // limits the server to one report at a time, because a report may need much memory
	page      []byte
	policy    string
}

// NewServer returns a Server for w. Requests are accepted if their Host is host, localhost or an IP address.
func NewServer(w *Watcher, host string) *Server {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	page := strings.NewReplacer("{{css}}", pageCSS, "{{js}}", pageJS).Replace(pageHTML)
	return &Server{
		watcher: w, host: host, followers: make(chan struct{}, maxFollowers), reports: make(chan struct{}, 1), page: []byte(page),
		policy: "default-src 'none'; connect-src 'self'; img-src data:; script-src " + hash(pageJS) + "; style-src " + hash(pageCSS) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
}

// reportPolicy is the content security policy of reports. A report has inline scripts and styles, and its
// pictures are part of the page. The policy does not let the page send requests.
const reportPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// IsLocal reports whether only this machine reaches addr.
func IsLocal(addr net.Addr) bool {
	ip, err := netip.ParseAddrPort(addr.String())
	return err == nil && ip.Addr().Unmap().IsLoopback()
}

// Serve watches the folder and serves requests on l until ctx ends. Then the watcher looks once more, and Serve sends what
// has changed, ends the event streams, waits up to five seconds for other responses, and closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watcher.Run(ctx)
		endRequests()
	}()
	server := &http.Server{
		Handler: s, BaseContext: func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: writeTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err := server.Shutdown(ending)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	}()
	err := server.Serve(l)
	cancel()
	<-watched
	if stop := <-stopped; errors.Is(err, http.ErrServerClosed) {
		err = stop
	}
	return err
}

// ServeHTTP responds to GET and HEAD requests for / and /report, and to GET requests for /events.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !s.trusted(r.Host):
		http.Error(w, fmt.Sprintf("host %.100q: want localhost or an IP address", r.Host), http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, fmt.Sprintf("method %.20q: want GET", r.Method), http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page)
	case r.URL.Path == "/events" && r.Method == http.MethodGet:
		s.events(w, r)
	case r.URL.Path == "/report":
		s.report(w, r)
	default:
		http.NotFound(w, r)
	}
}

// trusted reports whether a request with this Host header may be answered. Another site can make its own name
// resolve to this machine, but it has no control over localhost and over IP addresses.
func (s *Server) trusted(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || host != "" && strings.EqualFold(host, s.host)
}

// events streams the watcher's state as server-sent events, one whenever the state changes
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.followers <- struct{}{}:
		defer func() { <-s.followers }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d programs follow the runs already: want fewer", maxFollowers), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	out.SetReadDeadline(time.Time{}) // the read deadline of the request would end the stream
	send := func(text []byte) bool {
		out.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := w.Write(text)
		return errors.Join(err, out.Flush()) == nil
	}
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for ended := false; ; {
		state, changed := s.watcher.State()
		text, err := json.Marshal(state)
		if err != nil || !send(slices.Concat([]byte("data: "), text, []byte("\n\n"))) || ended {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-r.Context().Done():
				select {
				case <-changed: // what the watcher saw last, before the server ends
					ended, waiting = true, false
				default:
					return
				}
			case <-ping.C:
				if !send([]byte(": \n\n")) {
					return
				}
			}
		}
	}
}

// report sends the report of the named runs, or of all finished runs if no name is given. A name must be the
// name of a file that the watcher knows.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	names := r.URL.Query()["run"]
	state, _ := s.watcher.State()
	var paths []string
	for _, run := range state.Runs {
		wanted := slices.Contains(names, run.File) || len(names) == 0 && run.State == StateEnded
		if wanted && run.State != StateBroken {
			paths = append(paths, filepath.Join(state.Folder, run.File))
		}
	}
	if len(paths) == 0 || len(names) > 0 && len(paths) != len(names) {
		http.Error(w, "no such run, or none that has ended: want run=FILE of a file in the list", http.StatusNotFound)
		return
	}
	select {
	case s.reports <- struct{}{}:
		defer func() { <-s.reports }()
	case <-r.Context().Done():
		return
	case <-time.After(writeTimeout / 2):
		w.Header().Set("Retry-After", "30")
		http.Error(w, "another report is being made: try again later", http.StatusServiceUnavailable)
		return
	}
	var page bytes.Buffer
	if err := makeReport(&page, paths); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // a new deadline, because making the report took time
	w.Header().Set("Content-Security-Policy", reportPolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page.Bytes())
}

// makeReport writes the same page as benchreport does for the paths.
func makeReport(page *bytes.Buffer, paths []string) error {
	data, err := report.Read(paths...)
	if err != nil {
		return err
	}
	made, err := report.New(data, report.Options{Command: shellquote.Join(append([]string{"benchreport"}, paths...)...)})
	if err != nil {
		return err
	}
	return made.HTML(page)
}
