// Gateway is the gateway of this module as a program. gate.sh compares versions of it.
package main

import (
	"flag"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"

	"example.com/gateway"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "listen at this `address`")
	upstream := flag.String("upstream", "", "forward requests to the server at this `URL`")
	flag.Parse()
	to, err := url.Parse(*upstream)
	if err != nil || to.Host == "" {
		log.Fatalf("-upstream=%s: want the URL of a server", *upstream)
	}
	log.Fatal(http.ListenAndServe(*listen, gateway.New(to, strings.Split(os.Getenv("GATEWAY_KEYS"), ",")...)))
}
