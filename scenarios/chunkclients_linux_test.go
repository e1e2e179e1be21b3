package scenarios

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/testkit/chunkclient"
)

// plainPass sends l with net/http, and keeps the instant of each chunk with text. It returns the
// number of these chunks.
func plainPass(l chunkclient.Load) (chunks int, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: l.Streams, DisableCompression: true}}
	defer client.CloseIdleConnections()
	body, err := json.Marshal(map[string]any{
		"model": "mock", "stream": true, "ignore_eos": true, "max_tokens": l.Output,
		"messages": []map[string]string{{"role": "user", "content": chunkclient.Prompt}},
	})
	if err != nil {
		return 0, err
	}
	instants, errs := make([][]time.Duration, l.Streams), make([]error, l.Streams)
	var all sync.WaitGroup
	for i := range l.Streams {
		all.Go(func() {
			time.Sleep(time.Duration(i) * llmbench.DefaultStagger)
			for range l.Waves {
				at, err := plainRequest(client, l.URL, body)
				instants[i] = append(instants[i], at...)
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	all.Wait()
	return len(slices.Concat(instants...)), errors.Join(errs...)
}

// plainRequest sends a request. It returns the instants of the chunks with text, counted from the
// send.
func plainRequest(client *http.Client, url string, body []byte) (at []time.Duration, err error) {
	start := time.Now()
	resp, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, isData := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !isData || string(data) == "[DONE]" {
			continue
		}
		now := time.Since(start)
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return nil, err
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			at = append(at, now)
		}
	}
	return at, lines.Err()
}
