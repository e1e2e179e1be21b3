// Package endpoint reads the URL of a server as people have it, and sends it single requests
// beside a load.
package endpoint
