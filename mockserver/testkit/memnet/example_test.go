package memnet_test

import (
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

func Example() {
	ln := memnet.Listen()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello from ", r.Host)
	})}
	go srv.Serve(ln)
	defer srv.Close()

	client := &http.Client{Transport: &http.Transport{DialContext: ln.Dial}}
	resp, err := client.Get("http://anywhere/")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
	// Output: hello from anywhere
}
