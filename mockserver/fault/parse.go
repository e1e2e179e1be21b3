package fault

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a fault from the text of a command-line flag: the kind and then any fields, as
// in "reset", "reset,every=10,at=3", "stall,share=0.05,seed=7", "long-line,size=1048576" or
// "swap,above=32". Without every and share the fault hits every request. The result is valid.
// Fields at and size are errors for a kind that does not use them. An error quotes the text and names
// the invalid part.
func Parse(text string) (Fault, error) {
	kind, rest, _ := strings.Cut(text, ",")
	f := Fault{Kind: Kind(strings.TrimSpace(kind))}
	for part := range strings.SplitSeq(rest, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if err := f.set(part); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	if f.Every == 0 && f.Share == 0 {
		f.Every = 1
	}
	err := f.Validate()
	switch {
	case err != nil:
	case f.At > 0 && !f.Kind.traits().atToken:
		err = fmt.Errorf("at: %d, but %s does not occur at a token", f.At, f.Kind)
	case f.Size > 0 && f.Kind != LongLine:
		err = fmt.Errorf("size: %d, but only %s has a size", f.Size, LongLine)
	}
	if err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// set sets one field from a text such as "every=10".
func (f *Fault) set(text string) error {
	key, value, _ := strings.Cut(text, "=")
	var err error
	switch key {
	case "every":
		if f.Every, err = strconv.Atoi(value); err == nil && f.Every < 1 {
			return fmt.Errorf("every: %d: want 1 or more", f.Every)
		}
	case "share":
		if f.Share, err = strconv.ParseFloat(value, 64); err == nil && !(f.Share > 0 && f.Share <= 1) { // NaN is neither
			return fmt.Errorf("share: %v: want above 0 and up to 1", f.Share)
		}
	case "seed":
		f.Seed, err = strconv.ParseUint(value, 10, 64)
	case "at":
		f.At, err = strconv.Atoi(value)
	case "above":
		f.Above, err = strconv.Atoi(value)
	case "size":
		f.Size, err = strconv.ParseInt(value, 10, 64)
	default:
		return fmt.Errorf("%q: want every, share, seed, above, at or size", text)
	}
	if err != nil {
		return fmt.Errorf("%s: %q: want a number", key, value)
	}
	return nil
}
