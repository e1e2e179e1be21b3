package tinygguf

import (
	"math/rand/v2"
	"strings"
)

// frequent holds about 400 frequent English words, the most frequent first. The
// tokenizer is trained on them, and the model prefers them.
var frequent = strings.Fields(`the of and to in is it that was for on are as with his they at be this from
have or by one had not but what all were when we there can an your which their said if do will each about
how up out them then she many some so these would other into has more her two like him see time could no
make than first been its who now people my made over did down only way find use may water long little very
after words called just where most know get through back much before go good new write our used me man too
any day same right look think also around another came come work three word must because does part even
place well such here take why things help put years different away again off went old number great tell men
say small every found still between name should home big give air line set own under read last never us left
end along while might next sound below saw something thought both few those always looked show large often
together asked house world going want school important until form food keep children feet land side without
boy once animals life enough took sometimes four head above kind began almost live page got earth need far
hand high year mother light parts country father let night following picture being study second eyes soon
times story boys since white days ever paper hard near sentence better best across during today others however
sure means knew try told young miles sun ways thing whole hear example heard several change answer room sea
against top turned learn point city play toward five using himself usually money seen car morning given trees
ready green short draw idea language river order system model server token stream latency request response
measure second queue batch cache memory kernel thread signal result window sample median percentile spread
buffer socket header client engine driver report record column figure margin weight matrix vector shape value
table chart border garden winter summer spring autumn village mountain harbour bridge market letter engine
journey captain sailor lantern copper silver golden marble velvet thunder shadow whisper candle forest meadow`)

// corpus returns about n distinct words, the most frequent first, and how often each spelling occurs.
// Random words follow the English words. The counts decrease as in Zipf's law. The first 120 words also
// occur without a preceding space, and with a capital letter.
func corpus(n int, r *rand.Rand) (words []string, counts map[string]int) {
	words = append(words, frequent...)
	for len(words) < n {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteByte("bcdfghklmnprstvz"[r.IntN(16)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		words = append(words, b.String())
	}
	counts = map[string]int{}
	for i, w := range words {
		f := 20000 / (i + 10)
		counts[" "+w] += f + 2
		if i < 120 {
			counts[w] += f/4 + 1
			counts[strings.ToUpper(w[:1])+w[1:]] += f/8 + 1
		}
	}
	return words, counts
}
