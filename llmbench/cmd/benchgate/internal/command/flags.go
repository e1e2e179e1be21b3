package command

import (
	"fmt"
	"net/url"
	"strings"
)

// MaxFailUsage is the help text of -max-fail.
const MaxFailUsage = "tolerate this `share` of failed requests, 0 to 1, in the files of other tools (default 0); otherwise the file is no sample"

// Share returns a parser for a flag that sets v to a share from 0 to 1.
func Share(v *float64) func(string) error {
	return func(s string) error {
		if _, err := fmt.Sscan(strings.TrimSpace(s), v); err != nil || !(*v >= 0 && *v <= 1) {
			return fmt.Errorf("want a share from 0 to 1, such as 0.01")
		}
		return nil
	}
}

// ShownURL returns a URL without the parts that may be secret: user, query and fragment.
func ShownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
