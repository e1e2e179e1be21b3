package router_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// This example sends requests to two replicas in turn, and counts from their logs what each received.
func Example() {
	fleet, err := mockserver.NewFleet(mockserver.Config{}, mockserver.Config{})
	if err != nil {
		panic(err)
	}
	urls, stop, err := fleet.Listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer stop(0)
	r, err := router.New(&router.RoundRobin{}, urls...)
	if err != nil {
		panic(err)
	}
	front := httptest.NewServer(r)
	defer front.Close()
	for range 3 {
		resp, err := http.Post(front.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"hi","max_tokens":2}`))
		if err != nil {
			panic(err)
		}
		resp.Body.Close()
	}
	for i, u := range fleet.Usage() {
		fmt.Println("replica", i+1, "received", u.Requests)
	}
	fmt.Println("imbalance", mockserver.Imbalance(fleet.Usage()))
	// Output:
	// replica 1 received 2
	// replica 2 received 1
	// imbalance 1.3333333333333333
}
