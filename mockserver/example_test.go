package mockserver_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func Example() {
	cfg := mockserver.Default()
	cfg.Speed = 10
	s, err := mockserver.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", s)
	if err != nil {
		log.Fatal(err)
	}
	defer stop(0)

	resp, err := http.Post(url+"/v1/completions", "application/json",
		strings.NewReader(`{"prompt":"tell me a story","max_tokens":3,"stream":true}`))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(string(body), "data: "), "events")

	// The log of the server.
	e := s.Log()[0]
	fmt.Println(e.PromptTokens, "prompt tokens,", e.OutputTokens, "sent, status", e.Status)
	fmt.Println("first token no earlier than due:", e.Tokens[0]-e.Admitted >= cfg.TTFT/10)
	// Output:
	// 4 events
	// 4 prompt tokens, 3 sent, status 200
	// first token no earlier than due: true
}
