package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// behindTimeout limits the wait for the servers behind a router.
const behindTimeout = time.Minute

// waitBehind waits until the servers behind a router are healthy, as a router does before it opens its
// port. If the server is not a router, waitBehind returns at once.
func (s *server) waitBehind() error {
	if s.facts.Model.Behind == "" {
		return nil
	}
	for _, address := range append(s.set["--prefill"], s.set[s.facts.Model.Behind]...) {
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			res, err := http.Get(address + "/health")
			if err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					break
				}
				err = fmt.Errorf("status %s", res.Status)
			}
			if time.Since(began) > behindTimeout {
				return fmt.Errorf("%s is not healthy after %v: %w", address, behindTimeout, err)
			}
		}
	}
	return nil
}

// pass answers a completion as a router between prefill and decode servers does: it first sends the request
// to the prefill server with a limit of one token, and then sends the unchanged request to the decode
// server.
func (s *server) pass(w http.ResponseWriter, r *http.Request, body []byte) {
	prefill, decode := s.set["--prefill"][0], s.set[s.facts.Model.Behind][0]
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	fields["max_tokens"], fields["stream"] = 1, false
	delete(fields, "stream_options")
	delete(fields, "max_completion_tokens")
	delete(fields, "min_tokens")
	first, err := json.Marshal(fields)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	res, err := http.Post(prefill+r.URL.Path, "application/json", bytes.NewReader(first))
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	answer, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		refuse(w, http.StatusBadGateway, fmt.Sprintf("prefill: %s: %v: %s", res.Status, err, answer))
		return
	}
	to, err := url.Parse(decode)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	proxy := httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }}
	proxy.ServeHTTP(w, r)
}
