package ollamatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
)

const setUpTimeout = 2 * time.Minute // from the start of the process until the model is loaded

// setUp waits until the server answers, and then creates and loads the model (https://docs.ollama.com/api).
func (s *Server) setUp(ctx context.Context, o Options) error {
	ctx, end := context.WithTimeoutCause(ctx, setUpTimeout, fmt.Errorf("not set up after %v", setUpTimeout))
	defer end()
	if err := s.process.WaitReady(ctx, func(ctx context.Context) error {
		return s.do(ctx, http.MethodGet, "/api/version", nil)
	}); err != nil {
		return err
	}
	var gguf bytes.Buffer
	if err := tinygguf.Write(&gguf, o.Model); err != nil {
		return err
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(gguf.Bytes()))
	if err := s.post(ctx, "/api/blobs/"+digest, gguf.Bytes()); err != nil {
		return err
	}
	if err := s.postJSON(ctx, "/api/create", map[string]any{
		"model": ModelName, "files": map[string]string{"tiny.gguf": digest}, "stream": false,
		"parameters": map[string]int{"num_ctx": o.Context, "num_thread": 1},
	}); err != nil {
		return err
	}
	return s.postJSON(ctx, "/api/generate", map[string]any{"model": ModelName, "keep_alive": -1})
}

func (s *Server) postJSON(ctx context.Context, path string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.post(ctx, path, b)
}

func (s *Server) post(ctx context.Context, path string, body []byte) error {
	if err := s.do(ctx, http.MethodPost, path, body); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return nil
}

// client uses no proxy, and opens a new connection for each request.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// do sends a request. It returns an error if the status is not 2xx.
func (s *Server) do(ctx context.Context, method, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		err = fmt.Errorf("%s %s: %s: %.300s", method, path, res.Status, answer)
	}
	return err
}
