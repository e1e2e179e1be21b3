package history

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// PageOptions control [Overview.HTML] and [Overview.Atom].
type PageOptions struct {
	Title   string
	Commits string // the URL of a commit with {commit} in place of its hash; "" makes no links
}

// link returns the URL of a commit, or "".
func (o PageOptions) link(commit string) string {
	if o.Commits == "" {
		return ""
	}
	return strings.ReplaceAll(o.Commits, "{commit}", commit)
}

// The elements of an Atom feed (https://www.rfc-editor.org/rfc/rfc4287).
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  string      `xml:"author>name"`
		Entries []atomEntry `xml:"entry"`
	}
	atomEntry struct {
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Link    *atomLink   `xml:"link"`
		Content atomContent `xml:"content"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	atomContent struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
)

// mostEntries is the largest number of entries in a feed.
const mostEntries = 100

// Atom writes the newest changes for the worse as an Atom feed (RFC 4287), newest first. The identifier of the feed
// depends only on its title. The identifier of an entry depends only on the run that revealed the change and on its
// first series, so it stays the same when runs are added.
func (o *Overview) Atom(w io.Writer, opts PageOptions) error {
	newest := o.runs[len(o.runs)-1]
	f := atomFeed{ID: urn("feed", opts.Title, ""), Title: opts.Title, Updated: added(newest), Author: "benchgate"}
	for _, e := range o.events {
		if e.kind != eventWorse || len(f.Entries) == mostEntries {
			continue
		}
		run := o.runs[e.night]
		var b strings.Builder
		printer{b: &b}.cause(*e.cause)
		if e.cause.shared != "" {
			fmt.Fprintf(&b, "all series: %s\n", e.cause.shared)
		}
		entry := atomEntry{ID: urn("entry", run.Name, e.cause.Moves[0].Series.id()), Title: e.sentence(), Updated: added(run), Content: atomContent{"text", b.String()}}
		if href := opts.link(e.cause.Bad.Commit); href != "" {
			entry.Link = &atomLink{"alternate", href}
		}
		f.Entries = append(f.Entries, entry)
	}
	text, err := xml.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// urn returns a URN that is always the same for equal parts: a UUID of version 8, from their hash
// (https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8).
func urn(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// added returns when a run was added, in RFC 3339 format, or the time of its commit if that is not known.
func added(run *Run) string { return run.ranAt(time.Now()).UTC().Format(time.RFC3339) }
