// Package price turns the price of an hour of a server into the price of its output tokens. A price has the currency in
// which the user states it; the package knows none.
package price

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Want says what [Parse] allows.
const Want = "a price of an hour of the server, such as 2.49/h"

// Parse reads the price of an hour, such as 2.49/h. It is above 0.
func Parse(text string) (hour float64, err error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "/h")
	if hour, err = strconv.ParseFloat(number, 64); !ok || err != nil || !(hour > 0) || math.IsInf(hour, 0) {
		return 0, fmt.Errorf("%q: want %s", text, Want)
	}
	return hour, nil
}

// Million returns the price of a million output tokens of a server that is fully used: the price of the hour / output
// tokens of an hour x 10^6. All of the price counts for output tokens, and none for prompts. The rate is in output tokens
// a second of all users together. If it is 0, there is no price.
func Million(hour, rate float64) (price float64, ok bool) {
	price = hour / (rate * 3600) * 1e6
	return price, rate > 0 && !math.IsInf(price, 0)
}
