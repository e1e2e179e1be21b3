package backends

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// args appends words to the command line.
func (b *builder) args(words ...string) { b.Cmd = append(b.Cmd, words...) }

// fields appends options to the command line, and sets variables of the container, as the tags of the
// server's fields say, in the order of the fields. A field whose value is the zero value is left to the
// server. The tags are:
//
//	flag:"--max-num-seqs"   the option for the value; for a bool and for a Toggle that is on, all the words
//	off:"--no-cache"        all the words for a Toggle that is off
//	env:"N_CTX"             the variable for the value; a Toggle sets it to 1 or 0
//	gpus:"--tp-size"        the option for a number of devices; see parallelOptions
//	values:"auto float16"   the only values that are allowed
//	also:"-1"               a number that is allowed although it is not above 0
//
// Fields with the tag gpus come together, tensor parallelism first. Others are further names
// of their options, and other options that change how many devices the server uses.
func (b *builder) fields(server Server, others ...string) {
	var ways []parallelism
	for f, value := range reflect.ValueOf(server).Fields() {
		if flag := f.Tag.Get("gpus"); flag != "" {
			ways, others = append(ways, parallelism{f.Name, flag, int(value.Int())}), append(others, flag)
			continue
		}
		if ways != nil {
			b.parallelOptions(ways, others)
			ways = nil
		}
		b.field(f, value.Interface())
	}
	if ways != nil {
		b.parallelOptions(ways, others)
	}
}

// field does the work of fields for one field without the tag gpus.
func (b *builder) field(f reflect.StructField, value any) {
	flag, off, variable := f.Tag.Get("flag"), f.Tag.Get("off"), f.Tag.Get("env")
	values := strings.Fields(f.Tag.Get("values"))
	set, text := false, ""
	if flag+off+variable == "" {
		return
	}
	switch v := value.(type) {
	case bool:
		b.switchOption(flag, v)
	case Toggle:
		if set = b.isSet(f.Name, v); set && variable == "" {
			b.args(strings.Fields(map[Toggle]string{On: flag, Off: off}[v])...)
			return
		}
		text = map[Toggle]string{On: "1", Off: "0"}[v]
	case string:
		set, text = v != "", v
		if len(values) > 0 {
			b.isOneOf(f.Name, v, values...)
		}
	case float64:
		set, text = b.isShare(f.Name, v), strconv.FormatFloat(v, 'g', -1, 64)
	case int:
		text = strconv.Itoa(v)
		set = text == f.Tag.Get("also") || b.isPositive(f.Name, v)
		if v > 0 && len(values) > 0 && !slices.Contains(values, text) {
			b.invalid(f.Name, "%d: want %s, or 0 for the server's default", v, strings.Join(values, " or "))
		}
	default:
		panic(fmt.Sprintf("backends: field %s has a tag and the type %T", f.Name, value))
	}
	switch {
	case !set:
	case variable != "":
		b.Env[variable] = text
	default:
		b.args(flag, text)
	}
}

// textOption appends an option, unless value is "".
func (b *builder) textOption(flag, value string) {
	if value != "" {
		b.args(flag, value)
	}
}

// choiceOption appends an option, unless value is "", which means the server's default.
func (b *builder) choiceOption(field, flag, value string, allowed ...string) {
	if b.isOneOf(field, value, allowed...) {
		b.args(flag, value)
	}
}

// switchOption appends flag if set.
func (b *builder) switchOption(flag string, set bool) {
	if set {
		b.args(flag)
	}
}

// isPositive reports whether n is above 0. It records an error if n is negative.
func (b *builder) isPositive(field string, n int) bool {
	if n < 0 {
		b.invalid(field, "%d: want a whole number above 0, or 0 for the server's default", n)
	}
	return n > 0
}

// isShare reports whether v is above 0. It records an error if v is not between 0 and 1.
func (b *builder) isShare(field string, v float64) bool {
	if !(v >= 0 && v <= 1) {
		b.invalid(field, "%g: want a share above 0 and up to 1, or 0 for the server's default", v)
	}
	return v > 0
}

// isOneOf reports whether value is set. It records an error if value is set and is not allowed.
func (b *builder) isOneOf(field, value string, allowed ...string) bool {
	if value != "" && !slices.Contains(allowed, value) {
		b.invalid(field, `%q: want %s, or "" for the server's default`, value, strings.Join(allowed, ", "))
	}
	return value != ""
}

// isSet reports whether t is set. It records an error if t is neither "", On nor Off.
func (b *builder) isSet(field string, t Toggle) bool {
	return b.isOneOf(field, string(t), string(On), string(Off))
}
