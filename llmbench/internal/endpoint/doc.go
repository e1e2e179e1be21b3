// Package endpoint parses the base URL of a server, in all the forms that users have it in, and sends the
// server single requests, other than the requests of the load.
package endpoint
